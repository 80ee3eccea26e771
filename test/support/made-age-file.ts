// A sealed file as the hub can see one: a header with so many stanzas, and a content of so many bytes. Nobody can open it.

const STANZA = `-> mlkem768x25519 ${'A'.repeat(1494)}\n${'A'.repeat(43)}\n`
const MAC = `--- ${'A'.repeat(43)}\n`
const NONCE_BYTES = 16
const TAG_BYTES = 16

export function makeAgeFile(recipientCount: number, contentBytes: number): Buffer {
  const header = `age-encryption.org/v1\n${STANZA.repeat(recipientCount)}${MAC}`
  return Buffer.concat([Buffer.from(header), Buffer.alloc(NONCE_BYTES + contentBytes + TAG_BYTES)])
}
