"use strict";
// The vectors of datagrams of plain chunks, put to the code that Kaitai makes of the .ksy files.

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const yaml = require("js-yaml");
const Compiler = require("kaitai-struct-compiler");
const KaitaiStream = require("kaitai-struct/KaitaiStream");

const names = ["chunkwire", "chunkwire_repair"];

const source = (name) => yaml.load(fs.readFileSync(path.join(__dirname, name + ".ksy"), "utf8"));

// compiled returns the class that Kaitai makes of a file.
async function compiled(name) {
  const files = await Compiler.compile("javascript", source(name), null, false);
  const [file] = Object.keys(files);
  const module = { exports: {} };
  const require_ = () => KaitaiStream;
  new Function("module", "exports", "require", files[file])(module, module.exports, require_);
  const className = path.basename(file, ".js");
  return module.exports[className] ?? module.exports;
}

// vectors returns those of an operation with a protocol id, of all files.
function vectors(op) {
  const folder = path.join(__dirname, "../../testvectors/files");
  const list = [];
  for (const file of fs.readdirSync(folder)) {
    for (const v of JSON.parse(fs.readFileSync(path.join(folder, file), "utf8")).vectors ?? []) {
      const q = v.request;
      if (q.op === op && typeof q.hex === "string" && q.protocol_id !== undefined && v.response.error !== "bad_request") list.push(v);
    }
  }
  return list;
}

const hex = (bytes) => Buffer.from(bytes).toString("hex");

// packetOf returns what was decoded in the form of the vectors.
function packetOf(p, Class) {
  if (p.packetType === Class.PacketType.SLICE) {
    const slice = { type: "slice", chunk_id: p.chunkId, slice_id: p.sliceId, num_slices: p.numSlices };
    if (p.lastBytesMinus1 !== undefined) slice.last_bytes = p.lastBytesMinus1 + 1;
    return { ...slice, data: hex(p.data) };
  }
  if (p.have === undefined) return { type: "ack", chunk_id: p.chunkId, acked: p.acked.map((bit) => (bit ? "1" : "0")).join("") };
  return { type: "ack", chunk_id: p.chunkId, num_slices: p.numSlices, have: p.have, top: p.top };
}

// What a description in Kaitai does not say: the crc depends on the protocol id.
const outside = new Set(["crc_mismatch"]);

for (const [name, op, least] of [[names[0], "decode_packet", 560], [names[1], "repair_decode", 200]]) {
  test(`${name}.ksy takes and refuses the vectors of ${op}`, async (t) => {
    const Class = await compiled(name);
    const count = { taken: 0, refused: 0, outside: 0 };
    for (const v of vectors(op)) {
      const decode = () => new Class(new KaitaiStream(Buffer.from(v.request.hex, "hex")));
      if (v.response.ok) {
        assert.deepEqual(packetOf(decode(), Class), v.response.packet, v.name);
        count.taken++;
      } else if (outside.has(v.response.error)) {
        count.outside++;
      } else {
        assert.throws(decode, undefined, `${v.name} is taken`);
        count.refused++;
      }
    }
    assert.ok(count.taken + count.refused + count.outside >= least, JSON.stringify(count));
    t.diagnostic(JSON.stringify(count));
  });
}

for (const language of ["cpp_stl", "csharp", "go", "java", "lua", "python", "ruby", "rust"]) {
  test(`compiles to ${language}`, async () => {
    for (const name of names) assert.notEqual(Object.keys(await Compiler.compile(language, source(name), null, false)).length, 0);
  });
}
