// Files to texts, texts to the conversations in them: in slices, so that the page stays alive.

const FILE_LIMIT = 2 ** 31; // bytes after unpacking
class ReadError extends Error {}

// Let the page paint and hear clicks; a message comes sooner than a timer.
const pause = () => new Promise((go) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    go();
  };
  port2.postMessage(0);
});
const SLICE = 12; // milliseconds of work between two pauses
// Run a generator to its end with pauses; `stopped()` ends it early.
async function inSlices(steps, stopped) {
  for (;;) {
    const end = performance.now() + SLICE;
    while (performance.now() < end) {
      const { done, value } = steps.next();
      if (done) return value;
    }
    await pause();
    if (stopped?.()) throw new ReadError("Stopped.");
  }
}

// Cuts JSON that arrives in chunks into the elements of its outermost list, or into its outermost values.
class Splitter {
  constructor() {
    Object.assign(this, { text: "", at: 0, begin: -1, depth: 0, base: 0, string: false, escape: false, list: null, count: 0, scalar: false });
  }
  // Yields the text of one element after the other.
  *push(chunk) {
    this.text += chunk;
    const { text } = this;
    const end = text.length;
    let i = this.at;
    for (; i < end; i++) {
      const code = text.charCodeAt(i);
      if (this.string) {
        if (this.escape) this.escape = false;
        else if (code === 92) this.escape = true;
        else if (code === 34) {
          this.string = false;
          if (this.depth === this.base && !this.scalar) yield* this.emit(i + 1);
        }
        continue;
      }
      if (code <= 32) {
        if (this.scalar && this.depth === this.base) yield* this.emit(i);
        continue;
      }
      if (code === 34) {
        this.string = true;
        if (this.begin < 0) this.begin = i;
      } else if (code === 123 || code === 91) {
        if (this.list === null && code === 91) {
          this.list = true;
          this.base = this.depth = 1;
          continue;
        }
        this.list ??= false;
        if (this.begin < 0) this.begin = i;
        this.depth++;
      } else if (code === 125 || code === 93) {
        if (this.scalar && this.depth === this.base) yield* this.emit(i);
        this.depth--;
        if (this.begin >= 0 && this.depth === this.base) yield* this.emit(i + 1);
        else if (this.depth < this.base) this.base = Math.max(this.depth, 0);
        if (this.depth < 0) throw new ReadError("it is not JSON: a bracket is closed that was never opened");
      } else if (code === 44 && this.depth === this.base) {
        if (this.scalar) yield* this.emit(i);
      } else if (this.begin < 0) {
        this.list ??= false;
        this.begin = i;
        this.scalar = true;
      }
    }
    // What has been given out is let go.
    const keep = this.begin < 0 ? end : this.begin;
    this.text = text.slice(keep);
    this.at = end - keep;
    if (this.begin >= 0) this.begin = 0;
  }
  *emit(stop) {
    const element = this.text.slice(this.begin, stop);
    this.begin = -1;
    this.scalar = false;
    this.count++;
    yield element;
  }
  // Whether the text ended where a value ends.
  get whole() {
    return this.begin < 0 && this.depth === 0 && !this.string;
  }
}

// A zip archive by its central directory: the members, each with a way to read it.
async function membersOf(file) {
  const tail = new DataView(await file.slice(Math.max(0, file.size - 65557)).arrayBuffer());
  let at = tail.byteLength - 22;
  while (at >= 0 && tail.getUint32(at, true) !== 0x06054b50) at--;
  if (at < 0) throw new ReadError("The archive is cut off: its list of contents is missing. Download it again.");
  const [count, size, offset] = [tail.getUint16(at + 10, true), tail.getUint32(at + 12, true), tail.getUint32(at + 16, true)];
  if (count === 0xffff || offset === 0xffffffff) throw new ReadError("The archive is larger than this page reads. Unpack it, and choose its conversations.json.");
  const list = new DataView(await file.slice(offset, offset + size).arrayBuffer());
  const members = [];
  for (let p = 0; p + 46 <= list.byteLength && list.getUint32(p, true) === 0x02014b50;) {
    const [flags, method, packed, unpacked] = [list.getUint16(p + 8, true), list.getUint16(p + 10, true), list.getUint32(p + 20, true), list.getUint32(p + 24, true)];
    const [name, extra, comment, local] = [list.getUint16(p + 28, true), list.getUint16(p + 30, true), list.getUint16(p + 32, true), list.getUint32(p + 42, true)];
    const path = new TextDecoder().decode(new Uint8Array(list.buffer, p + 46, name));
    members.push({ path, size: unpacked, stream: () => unpack(file, { path, flags, method, packed, local }) });
    p += 46 + name + extra + comment;
  }
  return members;
}
async function unpack(file, { path, flags, method, packed, local }) {
  if (flags & 1) throw new ReadError(`${path} is encrypted. Unpack the archive with its password, and choose the file itself.`);
  if (method !== 0 && method !== 8) throw new ReadError(`${path} is packed in a way that this page cannot read. Unpack the archive, and choose the file itself.`);
  const head = new DataView(await file.slice(local, local + 30).arrayBuffer());
  const begin = local + 30 + head.getUint16(26, true) + head.getUint16(28, true);
  const body = file.slice(begin, begin + packed).stream();
  return method ? body.pipeThrough(new DecompressionStream("deflate-raw")) : body;
}

// The texts of a file, chunk by chunk; `tell(bytes)` hears how far it is.
async function* chunksOf(stream, name, tell) {
  const reader = stream.getReader();
  let decoder = null;
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (!done && !decoder) {
        const [a, b] = value;
        const wide = (a === 0xff && b === 0xfe) || (a && b === 0) ? "utf-16le" : (a === 0xfe && b === 0xff) || (a === 0 && b) ? "utf-16be" : "utf-8";
        decoder = new TextDecoder(wide, { fatal: true });
      }
      if (!decoder) return;
      if (value) bytes += value.length;
      if (bytes > FILE_LIMIT) throw new ReadError(`${name} is larger than 2 GB when it is unpacked. Read it with the command.`);
      yield decoder.decode(value, { stream: !done });
      if (done) return;
      tell(bytes);
      await pause();
    }
  } catch (error) {
    if (error instanceof ReadError) throw error;
    if (decoder && error instanceof TypeError && /decode|encoded/i.test(error.message)) throw new ReadError(`${name} is no text in UTF-8: choose the JSON file of the export, or save the text as UTF-8.`);
    throw new ReadError(`${name} cannot be read: it is damaged or has changed. Choose it again.`);
  } finally {
    reader.releaseLock();
  }
}
