import assert from "node:assert/strict";
import { test } from "node:test";
import { channel, ChannelReceiver, ChannelSender, type ChannelOptions, type ReportRecord, type SentRecord } from "chunkwire";
import { Random } from "./support.js";

const MS = 1000n;
const SPACE = 1160;
const OPTIONS: ChannelOptions = { window: 32, data: 4, group: 4, giveUp: 1000n * MS };

function open(options: ChannelOptions = {}): ChannelSender {
  return new ChannelSender(channel("ordered", { ...OPTIONS, ...options }));
}

function bytes(size: number, fill = 0): Uint8Array {
  return new Uint8Array(size).fill(fill);
}

function report(base: number, room: number, ...groups: [number, number][]): ReportRecord {
  return { type: "report", channel: 0, base, room, groups };
}

/** What a packet gets. */
function pollAll(sender: ChannelSender, now: bigint, number: number, space = SPACE): SentRecord[] {
  const records: SentRecord[] = [];
  for (let r = sender.poll(now, number, space); "record" in r; r = sender.poll(now, number, space)) records.push(r.record);
  return records;
}

function sequences(records: readonly SentRecord[]): (number | string)[] {
  return records.map((record) => ("sequence" in record ? record.sequence : record.type));
}

test("refusals of a send (CHS-15)", () => {
  const sender = open({ sendQueue: 4 });
  assert.equal(sender.send(0n, bytes(0)).row, "D1");
  assert.equal(sender.send(0n, bytes(17)).row, "D1");
  assert.equal(sender.send(0n, bytes(16)).row, "D3");
  assert.deepEqual(sender.send(0n, bytes(1)), { row: "D2", refused: "queue_full" });
  assert.equal(sender.poll(1000n * MS, 0, SPACE).row, "D7");
  assert.deepEqual(sender.send(0n, bytes(1)), { row: "D11", refused: "failed" });
  assert.equal(sender.unreleased, 4);
});

test("what two packets overtook is sent again, after the patience (CHS-3)", () => {
  const sender = open();
  for (let i = 0; i < 3; i++) sender.send(0n, bytes(1, i));
  assert.deepEqual(sequences(pollAll(sender, 0n, 0)), [0, 1, 2]);
  sender.setPath(40n * MS, 0n);
  assert.equal(sender.report(19n * MS, report(1, 31, [1, 0]), 0, 9), "D6");
  assert.deepEqual(pollAll(sender, 19n * MS, 1), []); // too early: half a round trip
  sender.report(20n * MS, report(1, 31, [1, 0]), 1, 1);
  assert.deepEqual(pollAll(sender, 20n * MS, 2), []); // overtaken by one
  sender.report(20n * MS, report(1, 31, [1, 0]), 2, 2);
  assert.deepEqual(sequences(pollAll(sender, 20n * MS, 3)), [1]);
  assert.equal(sender.report(20n * MS, report(1, 31, [1, 0]), 2, 2), "D4");
  assert.equal(sender.report(20n * MS, report(4, 31), 3, 2), "D5");
  assert.equal(sender.implausible, 1);
});

test("what expires is skipped, what did not go as well (CHX-1)", () => {
  const sender = open();
  sender.send(0n, bytes(1), 10n * MS);
  sender.send(0n, bytes(1));
  assert.equal(sender.deadline, 0n);
  assert.deepEqual(sequences(pollAll(sender, 10n * MS, 0)), ["skip", 1]);
});

test("silence draws a status, and the oldest entries again (CHS-4)", () => {
  const sender = open();
  sender.send(0n, bytes(1));
  pollAll(sender, 0n, 0);
  assert.equal(sender.deadline, 250n * MS);
  assert.deepEqual(sequences(pollAll(sender, 250n * MS, 1)), ["status", 0]);
});

test("the bytes of a message are copied, also those of a Buffer", () => {
  const [sender, message] = [open(), Buffer.from([1, 2])];
  sender.send(0n, message);
  message.fill(9);
  const [record] = pollAll(sender, 0n, 0);
  assert.deepEqual(record && "data" in record ? [...record.data] : null, [1, 2]);
});

test("a sender and a receiver, through loss", () => {
  const random = new Random(11);
  for (const kind of ["ordered", "unordered"] as const) {
    const limits = channel(kind, { ...OPTIONS, giveUp: 3000n * MS });
    const [sender, receiver] = [new ChannelSender(limits), new ChannelReceiver(limits)];
    const [sent, read]: [string[], string[]] = [[], []];
    let now = 0n;
    for (let packet = 0; packet < 4000 && read.length < 300; packet++, now += 3n * MS) {
      if (sent.length < 300) {
        const message = bytes(1 + random.below(16), sent.length);
        if (sender.send(now, message).row === "D3") sent.push(message.join());
      }
      const records = pollAll(sender, now, packet, 60);
      if (random.next() > 0.2) {
        for (const record of records) {
          if (record.type === "skip") assert.fail("nothing expires");
          else if (record.type === "status") receiver.status(now, record);
          else receiver.data(now, record);
        }
      }
      const polled = receiver.poll(now, SPACE);
      if ("report" in polled && random.next() > 0.2) sender.report(now, polled.report, packet, packet);
      for (let r = receiver.read(now); "data" in r; r = receiver.read(now)) read.push(r.data!.join());
    }
    assert.deepEqual(kind === "ordered" ? read : read.sort(), kind === "ordered" ? sent : sent.sort());
  }
});
