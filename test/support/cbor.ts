// As much of CBOR (RFC 8949) as an authenticator writes.

export type CborValue =
  | number
  | string
  | Uint8Array
  | readonly CborValue[]
  | ReadonlyMap<number | string, CborValue>

export function encodeCbor(value: CborValue): Buffer {
  if (typeof value === 'number') {
    return value >= 0 ? encodeHead(0, value) : encodeHead(1, -1 - value)
  }
  if (typeof value === 'string') {
    const text = Buffer.from(value)
    return Buffer.concat([encodeHead(3, text.length), text])
  }
  if (value instanceof Uint8Array) return Buffer.concat([encodeHead(2, value.length), value])
  if (value instanceof Map) {
    const parts = [...value].flatMap(([key, each]) => [encodeCbor(key), encodeCbor(each)])
    return Buffer.concat([encodeHead(5, value.size), ...parts])
  }
  const items = value as readonly CborValue[]
  return Buffer.concat([encodeHead(4, items.length), ...items.map(encodeCbor)])
}

function encodeHead(major: number, argument: number): Buffer {
  if (argument < 24) return Buffer.from([(major << 5) | argument])
  if (argument < 256) return Buffer.from([(major << 5) | 24, argument])
  const head = Buffer.alloc(3)
  head.writeUInt8((major << 5) | 25)
  head.writeUInt16BE(argument, 1)
  return head
}
