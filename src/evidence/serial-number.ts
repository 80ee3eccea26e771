// Serial numbers of certificates as CA, OpenSSL and hub print them, made one spelling: docs/protocol.md EVD-10.

/** RFC 5280, 4.1.2.2, has 20 bytes at most; a CA that goes beyond is not told apart from nonsense. */
const HEX_MAX = 64
const DECIMAL_MAX = 78

/** Lower-case hex without leading zeros, of hex digits. */
export function plainSerial(hex: string): string {
  return hex.toLowerCase().replace(/^0+(?=.)/, '')
}

/**
 * What a line of a list says: a decimal number as step-ca prints it; hex as OpenSSL does, with `serial=`, `0x`, colons or a letter;
 * or both, `10 (0xa)`. Undefined for anything else.
 */
export function parseSerial(text: string): string | undefined {
  const [, decimal, alsoHex] = /^(\d+) \((0x[0-9a-f]+)\)$/i.exec(text) ?? []
  if (decimal !== undefined && alsoHex !== undefined) {
    const serial = parseSerial(decimal)
    return serial === parseSerial(alsoHex) ? serial : undefined
  }
  if (/^\d+$/.test(text)) {
    if (text.length > DECIMAL_MAX) return undefined
    const inHex = BigInt(text).toString(16)
    return inHex.length <= HEX_MAX ? inHex : undefined
  }
  const hex = text.replace(/^(?:serial=|0x)/i, '').replace(/^0x/i, '')
  if (!/^(?:[0-9a-f]+|[0-9a-f]{1,2}(?::[0-9a-f]{2})+)$/i.test(hex)) return undefined
  const digits = hex.replaceAll(':', '')
  return digits.length <= HEX_MAX ? plainSerial(digits) : undefined
}
