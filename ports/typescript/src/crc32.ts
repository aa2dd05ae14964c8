/** The CRC-32 of IEEE 802.3, as in zlib (FRM-2). */

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) {
    crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return crc;
});

/** The CRC-32 of the parts, one after the other, as an unsigned 32-bit number. */
export function crc32(...parts: readonly Uint8Array[]): number {
  let crc = 0xffffffff;
  for (const part of parts) {
    for (const byte of part) {
      crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
    }
  }
  return ~crc >>> 0;
}
