/* The cases of bad_input.c: rule, file, text (or the function that creates it), status, complete message. */
#define NOT_A_TEXT(rule, make, code, message) {rule, "a.yaml", NULL, 0, make, code, message},
#define TEXT(rule, file, text, code, message) {rule, file, BYTES(text), NULL, code, message},

NOT_A_TEXT("a missing file", make_nothing, INVIVO_E_NOT_FOUND, "a.yaml: no such file")
NOT_A_TEXT("a directory", make_directory, INVIVO_E_FILE, "a.yaml: expected a regular file, this is a directory")
NOT_A_TEXT("a FIFO", make_fifo, INVIVO_E_FILE, "a.yaml: expected a regular file, this is a FIFO")
NOT_A_TEXT("a device", make_device, INVIVO_E_FILE, "a.yaml: expected a regular file, this is a device")
NOT_A_TEXT("a socket", make_socket, INVIVO_E_FILE, "a.yaml: expected a regular file, this is a socket")
NOT_A_TEXT("a dangling link", make_dangling, INVIVO_E_NOT_FOUND, "a.yaml: the symbolic link leads nowhere")
NOT_A_TEXT("links in a circle", make_circle, INVIVO_E_FILE, "a.yaml: the symbolic links form a cycle")
NOT_A_TEXT("unreadable", make_unreadable, INVIVO_E_FILE, "a.yaml: the file cannot be read: permission denied")
NOT_A_TEXT("too large", make_large, INVIVO_E_TOO_LARGE, "a.yaml: the file has 4999 bytes, at most 4096 are allowed; max_document_bytes permits more")

TEXT("0 bytes", "a.yaml", "", INVIVO_E_EMPTY,
     "a.yaml: the document is empty (no text, or only blanks or comments); write {} for a document without content")
TEXT("blanks only", "a.yaml", " \n\n  \n", INVIVO_E_EMPTY,
     "a.yaml: the document is empty (no text, or only blanks or comments); write {} for a document without content")
TEXT("comments only", "a.yaml", "# traits:\n# nothing yet\n", INVIVO_E_EMPTY,
     "a.yaml: the document is empty (no text, or only blanks or comments); write {} for a document without content")
TEXT("a BOM only", "a.yaml", BOM, INVIVO_E_EMPTY,
     "a.yaml: the document is empty (no text, or only blanks or comments); write {} for a document without content")
TEXT("JSON of 0 bytes", "a.json", "", INVIVO_E_EMPTY,
     "a.json: the document is empty (no text, or only blanks); write {} for a document without content")
TEXT("JSON of blanks", "a.json", " \n\t", INVIVO_E_EMPTY,
     "a.json: the document is empty (no text, or only blanks); write {} for a document without content")

TEXT("not UTF-8", "a.yaml", "traits:\n  synth.lead:\n    - Set: { label: \"caf\xe9\" }\n", INVIVO_E_ENCODING,
     "a.yaml:3:25: the text is not UTF-8 (the byte 0xE9 cannot stand here); save the file as UTF-8")
TEXT("not UTF-8 after text that is", "a.yaml", "# caf\xc3\xa9 \xf0\x9f\x8e\xb9\n# \xc3\xa9\xff\n", INVIVO_E_ENCODING,
     "a.yaml:2:4: the text is not UTF-8 (the byte 0xFF cannot stand here); save the file as UTF-8")
TEXT("a NUL byte", "a.yaml", "traits: {}\n# \0\n", INVIVO_E_SYNTAX,
     "a.yaml:2:3: the control character U+0000 is not allowed; in double quotes it can be an escape")
TEXT("UTF-16", "a.yaml", "\xff\xfe{\0}\0", INVIVO_E_ENCODING,
     "a.yaml:1:1: the text is UTF-16; save the file as UTF-8")

TEXT("half-written YAML", "a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 0.", INVIVO_E_SYNTAX,
     "a.yaml:3:22: the document ends too early; the map that begins at 3:12 is not closed")
TEXT("half-written JSON", "a.json", "{\"traits\":{\"synth.lead\":[{\"Set\":{\"ga", INVIVO_E_SYNTAX,
     "a.json:1:37: traits.synth.lead[0].Set: the string that begins at 1:34 is not closed")
TEXT("broken YAML", "a.yaml", "traits:\n  synth.lead:\n   - Set: { gain: 0.5 }\n  - Set: {}\n", INVIVO_E_SYNTAX,
     "a.yaml:4:3: expected a key; check the indentation and the quotes before")
TEXT("a tab that indents", "a.yaml", "traits:\n\tsynth.lead: []\n", INVIVO_E_SYNTAX,
     "a.yaml:2:1: a tab cannot indent or set off a value; use spaces")
TEXT("broken JSON", "a.json", "{\n  \"traits\": {,}\n}\n", INVIVO_E_SYNTAX,
     "a.json:2:14: traits: expected a key in double quotes, found ','")
TEXT("a comment in JSON", "a.json", "{\"traits\": {} // none\n}", INVIVO_E_SYNTAX,
     "a.json:1:15: JSON has no comments; remove it")
TEXT("a trailing comma in JSON", "a.json", "{\"traits\": {},}", INVIVO_E_SYNTAX,
     "a.json:1:15: expected a key in double quotes, found '}'; remove the comma before it")
TEXT("a key twice", "a.yaml", "traits:\n  synth.lead: []\n  synth.lead: []\n", INVIVO_E_SYNTAX,
     "a.yaml:3:3: traits: the key 'synth.lead' is given twice, first in line 2; keep one of them")
TEXT("an alias", "a.yaml", "traits: &all {}\nmore: *all\n", INVIVO_E_SYNTAX,
     "a.yaml:1:9: traits: the anchor '&all' is refused: anchors are not allowed; write the value out")
TEXT("a list at the top", "a.yaml", "- a\n- b\n", INVIVO_E_SPEC,
     "a.yaml:1:1: expected a map with the keys 'traits', 'config', 'wiring' and 'include', found a list")

TEXT("an unknown key", "a.yaml", "trait:\n  synth.lead: []\n", INVIVO_E_SPEC,
     "a.yaml:1:1: unknown key 'trait'; did you mean 'traits'?")
TEXT("an unknown trait", "a.yaml", "traits:\n  synth.lead:\n    - Sett: { gain: 1 }\n", INVIVO_E_SPEC,
     "a.yaml:3:7: traits.synth.lead[0]: unknown trait 'Sett'; did you mean 'Set'?")
TEXT("an unknown property", "a.yaml", "traits:\n  synth.lead:\n    - Set: { gian: 1 }\n", INVIVO_E_PROPERTY,
     "a.yaml:3:14: traits.synth.lead[0].Set.gian: voice has no property 'gian'; did you mean 'gain'?")
TEXT("a read-only property", "a.yaml", "traits:\n  synth.lead:\n    - Set: { seen: 1 }\n", INVIVO_E_READ_ONLY,
     "a.yaml:3:14: traits.synth.lead[0].Set.seen: voice.seen cannot be set: it is read only")
TEXT("an unknown target", "a.yaml", "traits:\n  synth.laed:\n    - Set: { gain: 1 }\n", INVIVO_E_SPEC,
     "a.yaml:2:3: traits.synth.laed: no target has the key 'synth.laed'; did you mean 'synth.lead'?" LATER)
TEXT("a target of the wrong type", "a.yaml", "traits:\n  synth.stage:\n    - Set: { gain: 0.5 }\n", INVIVO_E_PROPERTY,
     "a.yaml:3:14: traits.synth.stage[0].Set.gain: stage has no property 'gain'")
TEXT("a text for a number", "a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: loud }\n", INVIVO_E_TYPE,
     "a.yaml:3:20: traits.synth.lead[0].Set.gain: expected a number, got the string 'loud'")
TEXT("a number for a text", "a.yaml", "traits:\n  synth.lead:\n    - Set: { label: 5 }\n", INVIVO_E_TYPE,
     "a.yaml:3:21: traits.synth.lead[0].Set.label: 5 (a whole number) is not a string; in a document, write it in quotes")
TEXT("a number for a bool", "a.yaml", "traits:\n  synth.lead:\n    - Set: { mute: 1 }\n", INVIVO_E_TYPE,
     "a.yaml:3:20: traits.synth.lead[0].Set.mute: 1 (a whole number) is not a bool")
TEXT("yes is a text", "a.yaml", "traits:\n  synth.lead:\n    - Set: { mute: yes }\n", INVIVO_E_TYPE,
     "a.yaml:3:20: traits.synth.lead[0].Set.mute: expected true or false, got the string 'yes'")
TEXT("a list for a number", "a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: [1] }\n", INVIVO_E_TYPE,
     "a.yaml:3:20: traits.synth.lead[0].Set.gain: [1] (a list) is not a number")
TEXT("null for a number", "a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: }\n", INVIVO_E_NULL,
     "a.yaml:3:20: traits.synth.lead[0].Set.gain: expected a number, got null")
TEXT("out of the declared range", "a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 2.5 }\n", INVIVO_E_RANGE,
     "a.yaml:3:20: traits.synth.lead[0].Set.gain: 2.5 is outside 0...2")
TEXT("not a number", "a.yaml", "traits:\n  synth.lead:\n    - Set: { gain: .nan }\n", INVIVO_E_RANGE,
     "a.yaml:3:20: traits.synth.lead[0].Set.gain: nan is outside 0...2")
TEXT("300 into a uint8", "a.yaml", "traits:\n  synth.lead:\n    - Set: { level: 300 }\n", INVIVO_E_RANGE,
     "a.yaml:3:21: traits.synth.lead[0].Set.level: 300 is outside 0...255 (uint8)")
TEXT("a fraction into an integer", "a.yaml", "traits:\n  synth.lead:\n    - Set: { level: 1.5 }\n", INVIVO_E_RANGE,
     "a.yaml:3:21: traits.synth.lead[0].Set.level: 1.5 is not a whole number")
TEXT("a text too long for its field", "a.yaml", "traits:\n  synth.lead:\n    - Set: { label: 0123456789abcdefg }\n", INVIVO_E_RANGE,
     "a.yaml:3:21: traits.synth.lead[0].Set.label: the string has 17 bytes; at most 15 fit")
TEXT("no such choice", "a.yaml", "traits:\n  synth.lead:\n    - Set: { wave: sqare }\n", INVIVO_E_RANGE,
     "a.yaml:3:20: traits.synth.lead[0].Set.wave: 'sqare' is not one of sine, saw, square; did you mean 'square'?")

TEXT("a place after a BOM", "a.yaml", BOM "{ trait: {} }\n", INVIVO_E_SPEC,
     "a.yaml:1:3: unknown key 'trait'; did you mean 'traits'?")
TEXT("a place after CRLF", "a.yaml", "traits:\r\n  synth.lead:\r\n    - Set: { gain: 9 }\r\n", INVIVO_E_RANGE,
     "a.yaml:3:20: traits.synth.lead[0].Set.gain: 9 is outside 0...2")
TEXT("a place after non-ASCII", "a.yaml", "traits:\n  synth.lead:\n    - Set: { label: \"\xc3\xa9\xf0\x9f\x8e\xb9\", gain: 9 }\n", INVIVO_E_RANGE,
     "a.yaml:3:33: traits.synth.lead[0].Set.gain: 9 is outside 0...2")
TEXT("a place after tabs", "a.json", "{\n\t\"traits\":\t{\n\t\t\"synth.lead\":\t[ {\"Set\": {\"gain\":\t9 } } ] } }", INVIVO_E_RANGE,
     "a.json:3:36: traits.synth.lead[0].Set.gain: 9 is outside 0...2")
TEXT("a place after all of these", "a.json", BOM "{\r\n\t\"traits\": { \"synth.lead\": [ {\"Set\": { \"label\":\t\"\xc3\xa9\xf0\x9f\x8e\xb9\", \"gain\": 9 } } ] } }\r\n", INVIVO_E_RANGE,
     "a.json:2:63: traits.synth.lead[0].Set.gain: 9 is outside 0...2")
