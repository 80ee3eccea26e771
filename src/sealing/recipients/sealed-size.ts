// How large an age file for hybrid recipients becomes. Pure. https://age-encryption.org/v1

export const VERSION_LINE = 'age-encryption.org/v1'
export const HYBRID_STANZA = 'mlkem768x25519'
export const NONCE_BYTES = 16
export const TAG_BYTES = 16
export const CHUNK_BYTES: number = 64 * 1024

/** Room for some 2,600 recipients: what a hub takes, and a host opens. */
export const AGE_HEADER_BYTES_MAX: number = 4 * 1024 * 1024

/** The version line, and `--- ` with a MAC of 32 bytes. */
const HEADER_FRAME_BYTES = `${VERSION_LINE}\n`.length + '--- \n'.length + 43
/** A line with an encapsulated key of 1,120 bytes, and one of 32 bytes. */
const STANZA_BYTES = `-> ${HYBRID_STANZA} \n`.length + 1494 + 44

export function sealedSize(
  recipientCount: number,
  contentBytes: number,
): { readonly headerBytes: number; readonly fileBytes: number } {
  const headerBytes = HEADER_FRAME_BYTES + recipientCount * STANZA_BYTES
  const chunkCount = Math.max(1, Math.ceil(contentBytes / CHUNK_BYTES))
  return {
    headerBytes,
    fileBytes: headerBytes + NONCE_BYTES + contentBytes + chunkCount * TAG_BYTES,
  }
}
