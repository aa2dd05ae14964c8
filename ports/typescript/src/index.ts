/** Connections over datagrams: messages on channels, and chunks of up to 256 KiB; and each layer by itself. */

export { AdaptiveScheduler } from "./adaptive.js";
export { article, BaseScheduler, BURST, fixed, type Profile } from "./base.js";
export { BitReader, BitWriter } from "./bits.js";
export { ChannelReceiver, type ArrivalRow, type ChannelPoll, type ChannelRead } from "./channel-receiver.js";
export { sealAead, unsealAead } from "./chacha.js";
export { ChannelSender, type ChannelSend, type ChannelSenderPoll, type SentRecord } from "./channel-sender.js";
export { channel, type Channel, type ChannelKind, type ChannelOptions } from "./channels.js";
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
export { Congestion, type Conditions, type CongestionMode, type CongestionProfile, type CongestionRow } from "./congestion.js";
export {
  Connection,
  defaultGiveUp,
  type ConnectionOptions,
  type ConnectionPoll,
  type ConnectionReceipt,
  type ConnectionRow,
  type ConnectionState,
  type Ending,
  type Refused,
} from "./connection.js";
export {
  decodePayload,
  encodePayload,
  type ChunkAckRecord,
  type CloseRecord,
  type ConnectionRecord,
  type ClockRecord,
  type MarksRecord,
  type RecordLimits,
  type SliceRecord,
} from "./connection-records.js";
export { crc32 } from "./crc32.js";
export {
  Endpoint,
  type Above,
  type EndpointEvent,
  type EndpointOptions,
  type Receipt,
  type ReceiveRow,
  type Verdict,
} from "./endpoint.js";
export { Loss, Patience, RoundTrip, Seconds, Shown, type Figures } from "./estimates.js";
export {
  Client,
  Server,
  type ChannelSpec,
  type ClientOptions,
  type ClientState,
  type EndOptions,
  type Outgoing,
  type OutgoingTo,
  type Peer,
  type Received,
  type ServerOptions,
} from "./ends.js";
export { Envelope } from "./envelope.js";
export type { ChunkRefusal, LaneScheduler } from "./lanes.js";
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
export type { Ecn } from "./marks.js";
export type { ChannelSetup, Delivery, MessageRefusal } from "./mux.js";
export {
  decodeDatagram,
  encodeDatagrams,
  encodeHeader,
  NOWHERE,
  PacketError,
  type Fragment,
  type FragmentLimits,
  type Header,
  type PacketErrorCode,
  type Regular,
} from "./packets.js";
export { LossEstimate, type RatelessProfile } from "./control.js";
export { ADAPTIVE, RatelessScheduler } from "./rateless.js";
export {
  Receiver,
  type ReadResult,
  type ReceiverOptions,
  type ReceiverPollResult,
  type ReceiverState,
  type SliceRow,
} from "./receiver.js";
export {
  decodeRecords,
  encodeRecords,
  EVERY_CHANNEL,
  groupsOf,
  isQuiet,
  missingOf,
  RecordError,
  sizeOf,
  type ChannelRecord,
  type Channels,
  type FragmentRecord,
  type Group,
  type MessageRecord,
  type PadRecord,
  type RecordErrorCode,
  type ReportRecord,
  type SkipRecord,
  type StatusRecord,
  type UnreliableRecord,
} from "./records.js";
export { EncodedChunk, exponent, MAX_IDS, RepairDecoder, repairSliceBytes } from "./repair-code.js";
export {
  decodeRepairBody,
  decodeRepairPacket,
  encodeRepairBody,
  encodeRepairPacket,
  idOf,
  numberOfArrival,
  numberOfField,
  repairProtocolId,
  type RepairAck,
  type RepairPacket,
  type RepairSlice,
} from "./repair-codec.js";
export {
  RepairReceiver,
  type RepairReadResult,
  type RepairReceiverPollResult,
  type RepairSliceRow,
} from "./repair-receiver.js";
export {
  RepairSender,
  type RepairAckResult,
  type RepairScheduler,
  type RepairSenderOptions,
  type RepairSenderPollResult,
  type RepairSubmitResult,
} from "./repair-sender.js";
export {
  Sender,
  type AckResult,
  type Scheduler,
  type SenderOptions,
  type SenderPollResult,
  type SenderState,
  type SubmitResult,
} from "./sender.js";
export {
  LINK_INTERVAL,
  SessionClient,
  TIMEOUT_UNIT,
  type ClientRow,
  type RandomBytes,
  type SessionClientOptions,
  type SessionClientPoll,
  type SessionClientState,
  type SessionEnd,
} from "./session-client.js";
export type { Keys } from "./session-keys.js";
export {
  isLiving,
  SessionServer,
  type Entry,
  type EntryState,
  type ServerRow,
  type SessionServerOptions,
  type Taken,
} from "./session-server.js";
export { addressBytes, CLOCKS, formatOf, MARKS, NAMED, REPAIR, type Terms } from "./session-terms.js";
export {
  ANONYMOUS,
  decodeSession,
  encodeSession,
  isData,
  NO_KEY,
  REASONS,
  SessionError,
  type Agreed,
  type HandshakeMessage,
  type Mode,
  type Offer,
  type SessionErrorCode,
  type SessionMessage,
} from "./sessions.js";
export { nearest, newest, numberFrom, onWire } from "./seq.js";
export { hmac, same, sha256 } from "./sha256.js";
export { NEVER, type Deadline, type Micros } from "./time.js";
export { publicShare, sharedSecret } from "./x25519.js";
