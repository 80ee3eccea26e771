// Values that parsers get wrong: texts, JSON, PEM.

import * as fc from 'fast-check'

/** Any text, and those that somebody has stumbled over before. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    'a\0b',
    '\uD800',
    'a\uDFFFb',
    '\u202Eabc',
    '\uFEFF',
    '../../etc/passwd',
    '..',
    '__proto__',
    'constructor',
    'toString',
    'null',
    "' OR 1=1 --",
    '%00',
    '%n%s',
    '${jndi:ldap://x}',
    'e\u0301'.repeat(200),
    '\u{1F468}\u200D\u{1F469}'.repeat(50),
    'x'.repeat(256),
    'x'.repeat(257),
    'x'.repeat(40_000),
    `${'a.'.repeat(126)}a`,
  ),
)

const wrongType: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, false, 0, -1, 1.5, 2 ** 53, [], {}, [[]], [''], { length: 3 }),
  fc.jsonValue({ maxDepth: 3 }),
)

/** In the place of a field. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(hostileText, wrongType)

const hostileNumber = fc.constantFrom(
  '1e309',
  '-1e309',
  '1e-400',
  '9007199254740993',
  '0.1000000000000000055511151231257827',
  '9'.repeat(400),
  '-0',
  `1${'0'.repeat(300)}`,
  '01',
  '+1',
  '.5',
  '1.',
  '0x10',
  'NaN',
  'Infinity',
  '1e99999999999999999999',
)

const nested = fc
  .tuple(fc.constantFrom('[', '{"a":', '{"__proto__":'), fc.constantFrom(31, 32, 33, 100, 5000))
  .map(([open, levels]) => {
    const close = open === '[' ? ']' : '}'
    return `${open.repeat(levels)}${open === '[' ? '' : '1'}${close.repeat(levels)}`
  })

const brokenText = fc.constantFrom(
  '',
  ' ',
  '{',
  '}',
  '[1,]',
  '{"a":1,}',
  "{'a':1}",
  '{"a"}',
  '{a:1}',
  '"',
  '"\\u12"',
  '"\\x41"',
  '"\n"',
  '// c\n{}',
  '{}{}',
  'undefined',
  '\uFEFF{}',
  '{"a":1}\0',
)

/** Bodies whose JSON itself is the trouble; `inside` puts one where a field's value would be. */
export const hostileJson: fc.Arbitrary<Buffer> = fc.oneof(
  brokenText.map((text) => Buffer.from(text)),
  nested.map((text) => Buffer.from(text)),
  hostileNumber.map((text) => Buffer.from(text)),
  fc.oneof(hostileNumber, nested, brokenText).map(inside),
  fc.constantFrom('\\ud800', '\\u0000', '\\udfff\\ud800').map((text) => inside(`"${text}"`)),
  fc.constantFrom('__proto__', 'constructor', 'payload', 'token').map(duplicated),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom([0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2])
    .map((bytes) => Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')])),
  fc.constantFrom(65_536, 65_537, 70_000, 200_000).map((size) => Buffer.alloc(size, '[')),
  fc.constantFrom(65_536, 65_537, 100_000).map((size) => Buffer.from(`"${'x'.repeat(size - 2)}"`)),
  fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
)

function inside(value: string): Buffer {
  return Buffer.from(`{"tipo_evento":"fuzz","payload":{"a":${value}},"token":${value}}`)
}

function duplicated(name: string): Buffer {
  return Buffer.from(`{"tipo_evento":"fuzz","${name}":{"a":1},"${name}":{"b":2},"payload":{}}`)
}

/** PEM of a DER that some bytes were changed, taken or put in. */
export function mutatedPem(pem: string): fc.Arbitrary<string> {
  const der = derOf(pem)
  const label = /-----BEGIN ([^-]+)-----/.exec(pem)?.[1] ?? ''
  const wrap = (bytes: Buffer): string =>
    `-----BEGIN ${label}-----\n${bytes.toString('base64')}\n-----END ${label}-----\n`
  const position = fc.nat({ max: der.length - 1 })
  const byte = fc.integer({ min: 0, max: 255 })
  return fc.oneof(
    fc
      .array(fc.tuple(position, byte), { minLength: 1, maxLength: 4 })
      .map((changes) => wrap(withBytes(der, changes))),
    position.map((length) => wrap(der.subarray(0, length))),
    fc
      .tuple(position, fc.uint8Array({ minLength: 1, maxLength: 40 }))
      .map(([at, added]) => wrap(Buffer.concat([der.subarray(0, at), added, der.subarray(at)]))),
    fc.nat({ max: pem.length }).map((length) => pem.slice(0, length)),
    fc.constantFrom(
      `${pem}${pem}`,
      pem.replace('BEGIN', 'END'),
      `${pem}x`,
      pem.replaceAll('\n', ''),
    ),
  )
}

export function derOf(pem: string): Buffer {
  return Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
}

function withBytes(der: Buffer, changes: readonly (readonly [number, number])[]): Buffer {
  const copy = Buffer.from(der)
  for (const [position, byte] of changes) copy[position] = byte
  return copy
}
