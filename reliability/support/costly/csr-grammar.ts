// Certificate requests that are dear to read: elements without end in each place that has room, and keys that are dear to
// verify with. They ask for a name that no host has, so that none of them goes to the CA.

import {
  bitString,
  der,
  integer,
  name,
  NULL,
  oid,
  sequence,
} from '../../../test/support/der-writer.ts'
import {
  createHostileCsr,
  requestOfExtensions,
  rsaKey,
  subjectAltName,
  toCsrPem,
} from '../../../test/support/hostile-csr.ts'
import type { Genome, Grammar } from './genome.ts'

const UNITS: Readonly<Record<string, Buffer>> = {
  null: NULL,
  'empty sequence': sequence(),
  'sequence of an oid': sequence(oid('2a03')),
  oid: oid('551d11'),
  'long oid': der(0x06, Buffer.alloc(200, 0x01)),
  'octets of a sequence': der(0x04, sequence(NULL)),
  'constructed octets': der(0x24, der(0x04)),
  'bit string': bitString(Buffer.alloc(1)),
  'constructed bits': der(0x23, bitString(Buffer.alloc(0))),
  'long number': integer(Buffer.alloc(200, 0x7f)),
  text: der(0x0c, Buffer.from('a')),
  'wide text': der(0x1e, Buffer.from('\0a')),
  'dns name': der(0x82, Buffer.from('a')),
  address: der(0x87, Buffer.alloc(16, 1)),
  uri: der(0x86, Buffer.from('a:b')),
  'directory name': der(0xa4, name('a')),
  'other name': der(0xa0, oid('2a03'), der(0xa0, NULL)),
  time: der(0x17, Buffer.from('300101000000Z')),
}

const EXTENSIONS: readonly string[] = ['551d11', '551d13', '551d0f', '551d25', '551d20', '2a03']

/** Each makes elements of the units, and a request of the elements. */
const WRAPPERS: Readonly<Record<string, (units: readonly Buffer[]) => Buffer>> = {
  attributes: (units) =>
    withAttributes(units.map((unit) => sequence(oid('2a03'), der(0x31, unit)))),
  'values of an attribute': (units) => withAttributes([sequence(oid('2a03'), der(0x31, ...units))]),
  'attributes of extensions': (units) =>
    withAttributes(units.map((unit) => requestOfExtensions(unit))),
  extensions: (units) =>
    withAttributes([
      requestOfExtensions(
        ...units.map((unit, index) =>
          sequence(oid(EXTENSIONS[index % EXTENSIONS.length] ?? ''), der(0x04, sequence(unit))),
        ),
      ),
    ]),
  names: (units) => withAttributes([requestOfExtensions(subjectAltName(...units))]),
  subject: (units) =>
    createHostileCsr({
      subject: sequence(...units.map((unit) => der(0x31, sequence(oid('550403'), unit)))),
      attributes: [OTHER_NAME],
    }),
  'parts of one name': (units) =>
    createHostileCsr({
      subject: sequence(der(0x31, ...units.map((unit) => sequence(oid('550403'), unit)))),
      attributes: [OTHER_NAME],
    }),
  nested: (units) =>
    withAttributes([
      sequence(
        oid('2a03'),
        der(
          0x31,
          units.reduceRight((inside, unit) => sequence(unit, inside), NULL),
        ),
      ),
    ]),
}

/** These say nothing but what key they have. */
const KEYS: Readonly<Record<string, () => Buffer>> = {
  'rsa 3072, its exponent as long': () => withKey(3072, 3064),
  'rsa 4096, an exponent of 64 bits': () => withKey(4096, 64),
  'rsa 8192': () => withKey(8192, 24),
}

const OTHER_NAME = requestOfExtensions(subjectAltName(der(0x82, Buffer.from('other'))))

export const csrGrammar: Grammar = {
  wrappers: [...Object.keys(WRAPPERS), ...Object.keys(KEYS)],
  units: Object.keys(UNITS),
  found: [
    { wrapper: 'extensions', units: ['null'], size: 1 },
    { wrapper: 'names', units: ['dns name'], size: 1 },
    { wrapper: 'rsa 3072, its exponent as long', units: ['null'], size: 1 },
  ],
  write: (genome, bytesMax) => {
    const key = KEYS[genome.wrapper]
    // Base64, label and key take the rest.
    const room = (bytesMax - 100) * 0.75 - 400
    return toCsrPem(key === undefined ? fill(genome, room) : key())
  },
}

/** As many units as there is room for, found by trying: what is put around each differs. */
function fill({ wrapper, units, size }: Genome, bytesMax: number): Buffer {
  const write = WRAPPERS[wrapper] ?? withAttributes
  const make = (count: number): Buffer =>
    write(
      Array.from({ length: count }, (_, index) => UNITS[units[index % units.length] ?? ''] ?? NULL),
    )
  const [one, many] = [make(1).length, make(101).length]
  // Nesting adds the bytes of longer lengths; one element less for each hundred leaves room for them.
  const each = ((many - one) / 100) * 1.1 + 0.1
  return make(Math.max(1, Math.floor(((bytesMax - one) / each) * size)))
}

function withAttributes(attributes: readonly Buffer[]): Buffer {
  return createHostileCsr({ attributes: [OTHER_NAME, ...attributes] })
}

function withKey(modulusBits: number, exponentBits: number): Buffer {
  const foreignKey = { spki: rsaKey(modulusBits, exponentBits), signatureBytes: modulusBits / 8 }
  return createHostileCsr({ attributes: [OTHER_NAME], foreignKey })
}
