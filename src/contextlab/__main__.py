from contextlab.cli import main

raise SystemExit(main())
