// Numbers as people type them, in exact arithmetic. A number is {n: BigInt, e: int}: n divided by 10 to the e.

const DIGIT_ZEROS = [0x660, 0x6f0, 0x966, 0x9e6, 0xff10]; // Arabic, Persian, Devanagari, Bengali, full width
const LONGEST = 40;

function asciiDigits(text) {
  return [...text].map((sign) => {
    const code = sign.codePointAt(0);
    const zero = DIGIT_ZEROS.find((start) => code >= start && code < start + 10);
    return zero === undefined ? sign : String(code - zero);
  }).join("");
}

function exact(text) {
  const [mantissa, power] = String(text).toLowerCase().split("e");
  const [whole, fraction = ""] = mantissa.split(".");
  let n = BigInt(whole.replace("+", "") + fraction);
  let e = fraction.length - Number(power || 0);
  if (e < 0) {
    n *= 10n ** BigInt(-e);
    e = 0;
  }
  return { n, e };
}

function align(a, b) {
  const e = Math.max(a.e, b.e);
  return [a.n * 10n ** BigInt(e - a.e), b.n * 10n ** BigInt(e - b.e)];
}
const less = (a, b) => {
  const [x, y] = align(a, b);
  return x < y;
};
// |a - b| <= tolerance
function near(a, b, tolerance) {
  const [x, y] = align(a, b);
  const gap = { n: x > y ? x - y : y - x, e: Math.max(a.e, b.e) };
  return !less(tolerance, gap);
}
function decimal({ n, e }) {
  const digits = String(n < 0n ? -n : n).padStart(e + 1, "0");
  const whole = digits.slice(0, digits.length - e);
  const fraction = e ? digits.slice(-e).replace(/0+$/, "") : "";
  return (n < 0n ? "-" : "") + whole + (fraction ? "." + fraction : "");
}

// Returns {value} or {ask}: what is asked back is never graded. `units` are the words that may follow the number.
function parseNumber(text, units) {
  let rest = asciiDigits(String(text ?? "")).normalize("NFKC").replace(/\s+/g, " ").trim();
  rest = rest.replace(/[\u2212\u2013\uFE63]/g, "-").replace(/[\u2019\u2018`]/g, "'");
  if (!rest) return { ask: "Type a number first." };
  const unit = units && units[0];
  const alone = unit ? `Type one number, in ${unit}.` : "Type one number.";
  // A unit before ("turn 19") or after ("19 tokens") the number.
  const found = rest.match(/^([^\d.,+-]*?) ?([+-]?[.,]?\d(?:[\d.,']| (?=\d))*(?:e ?[+-]?\d+)?) ?(.*)$/iu);
  if (!found) return { ask: `“${clip(text)}” is not a number. ${alone}` };
  const [, before, sign, after] = found;
  const known = (word) => (units || []).some((one) => one.toLowerCase() === word.toLowerCase());
  for (const word of [before, after]) {
    if (!word || known(word)) continue;
    if (/\d/.test(word)) return { ask: `“${clip(text)}” is more than one number. ${alone}` };
    return { ask: `The unit here is ${unit || "none"}: “${clip(word)}” is something else. ${alone}` };
  }
  const [mantissa, power = ""] = sign.toLowerCase().replace(/ (?=e)|(?<=e) /g, "").split("e");
  const minus = mantissa.startsWith("-") ? "-" : "";
  const body = mantissa.replace(/^[+-]/, "");
  const plain = withoutGroups(body);
  if (plain.ask) return plain;
  if (plain.text.length > LONGEST || Math.abs(Number(power)) > LONGEST) {
    return { ask: "That number is too long to be an answer here. Check the number of digits." };
  }
  const value = exact(minus + plain.text + (power ? "e" + power : ""));
  return { value };
}

const clip = (text) => (String(text).length > 24 ? String(text).slice(0, 23) + "…" : String(text)).trim();

// Take the separators out, or ask when two countries read them differently.
function withoutGroups(body) {
  const broken = { ask: `“${clip(body)}” can be read in more than one way. Write it without separators.` };
  if (/^\d+$/.test(body)) return { text: body };
  if (/^\d{1,3}([ ']\d{3})+([.,]\d+)?$/.test(body)) {
    return { text: body.replace(/[ ']/g, "").replace(",", ".") };
  }
  if (/[ ']/.test(body)) return broken;
  const signs = body.replace(/\d/g, "");
  if (signs.length === 1) {
    const [whole, fraction] = body.split(/[.,]/);
    if (fraction.length === 3 && /^[1-9]\d{0,2}$/.test(whole)) {
      return {
        ask: `“${body}” is read as ${whole}${fraction} in some countries and as a little over ${whole} in others. `
          + `Write ${whole}${fraction}, or ${whole}.${fraction}0.`,
      };
    }
    return { text: `${whole || "0"}${fraction ? "." + fraction : ""}` };
  }
  // 1,024,000 or 1.024.000: groups of three with one sign; 1,024.5 or 1.024,5: the last sign is the decimal one.
  if (/^\d{1,3}(,\d{3})+$/.test(body) || /^\d{1,3}(\.\d{3})+$/.test(body)) return { text: body.replace(/[.,]/g, "") };
  if (/^\d{1,3}(,\d{3})+\.\d+$/.test(body)) return { text: body.replace(/,/g, "") };
  if (/^\d{1,3}(\.\d{3})+,\d+$/.test(body)) return { text: body.replace(/\./g, "").replace(",", ".") };
  return broken;
}
