// Writes DER (X.690), also what nobody should.

export const NULL = Buffer.from([0x05, 0x00])

export function name(commonName: string): Buffer {
  return sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(commonName)))))
}

export function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'))
}

export function integer(bytes: Buffer): Buffer {
  return der(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes)
}

export function bitString(bytes: Buffer): Buffer {
  return der(0x03, Buffer.from([0]), bytes)
}

export function sequence(...contents: Buffer[]): Buffer {
  return der(0x30, ...contents)
}

export function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content])
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length]
  const bytes = length > 0xff ? [length >> 8, length & 0xff] : [length]
  return [0x80 + bytes.length, ...bytes]
}
