/** The chunk protocol: blocks of up to 256 KiB that reach a peer whole, over UDP. */

export { article, BaseScheduler, BURST, fixed, type Profile } from "./base.js";
export { BitReader, BitWriter } from "./bits.js";
export {
  decodeBody,
  decodePacket,
  DecodeError,
  encodeBody,
  encodePacket,
  EncodeError,
  frameCrc,
  type Ack,
  type Decoded,
  type DecodeErrorCode,
  type Packet,
  type PacketType,
  type Slice,
} from "./codec.js";
export { crc32 } from "./crc32.js";
export {
  DEFAULT_GIVE_UP,
  HEADER,
  MAX_ACK,
  MAX_CHUNK,
  MAX_DATAGRAM,
  MAX_GIVE_UP,
  MAX_SLICES,
  SLICE_SIZE,
} from "./limits.js";
export {
  Receiver,
  type ReadResult,
  type ReceiverOptions,
  type ReceiverPollResult,
  type ReceiverState,
  type SliceRow,
} from "./receiver.js";
export {
  Sender,
  type AckResult,
  type Scheduler,
  type SenderOptions,
  type SenderPollResult,
  type SenderState,
  type SubmitResult,
} from "./sender.js";
export { NEVER, type Deadline, type Micros } from "./time.js";
