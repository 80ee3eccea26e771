// What a hub that means harm could list.

import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { hostileText, hostileValue } from '../../test/fuzz/hostile-values.ts'

const PIECES = [
  '..',
  '.',
  '/',
  '//',
  '\\',
  '~',
  '\0',
  '\n',
  '\r',
  ' ',
  '-rf',
  '*',
  '$(id)',
  '`id`',
  '%2e%2e',
  '%2f',
  '\u202E',
  '\u2215',
  '\uFF0E',
  'é',
  '.versions',
  'current',
  '000001',
  'cert.pem',
  'key.pem',
  'site',
  'site.crt',
  'site.key',
  'state',
  'identity',
  'agent.key',
  'hooks',
  'agent.sock',
  'processed.json',
  'etc',
  'passwd',
  'a',
  'A',
  '.tmp',
  '.changed',
  'con',
]
const KNOWN_HARD = [
  '../escape',
  '../../escape',
  '../../../../../../../../escape',
  '/escape',
  '/etc/cron.d/escape',
  '..',
  '.',
  '...',
  '....',
  '.hidden',
  '-',
  '--help',
  '../state/processed.json',
  'a/../../b',
  '../hooks/post-csr-cert',
  '.versions/site/current',
  'site/../../identity/agent',
  'a\0.crt',
  'a'.repeat(128),
  'a'.repeat(129),
  'a'.repeat(255),
  'a'.repeat(4096),
  `${'../'.repeat(2000)}x`,
]

const hostileName: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...KNOWN_HARD) },
  {
    weight: 6,
    arbitrary: fc
      .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 8 })
      .map((parts) => parts.join('')),
  },
  { weight: 2, arbitrary: hostileText },
  { weight: 1, arbitrary: hostileValue },
)

/** An entry with a hostile name, or with one more field that is hostile. */
const hostileEntry: fc.Arbitrary<object> = fc
  .tuple(
    hostileName,
    fc.oneof(
      { weight: 4, arbitrary: fc.constant({}) },
      fc.dictionary(
        fc.constantFrom('id', 'carga_id', 'tipo', 'versao', 'status', 'extra', '__proto__'),
        hostileValue,
        { minKeys: 1, maxKeys: 2 },
      ),
    ),
  )
  .map(([nome, wrong]) => ({ ...goodEntry(nome), ...wrong }))

export function goodEntry(nome: unknown): object {
  return {
    id: randomUUID(),
    carga_id: randomUUID(),
    tipo: 'csr_cert',
    nome,
    versao: 1,
    status: 'pendente',
  }
}

export function hostileEntries(count: number, seed: number): object[] {
  return fc.sample(hostileEntry, { numRuns: count, seed })
}

/** Whole manifests whose size or shape is the trouble. */
export const HOSTILE_MANIFESTS: readonly (readonly [what: string, make: () => unknown])[] = [
  ['20,000 entries', () => Array.from({ length: 20_000 }, (_, index) => goodEntry(`n${index}`))],
  ['a name of 8 MiB', () => [goodEntry('x'.repeat(8 * 1024 * 1024))]],
  ['a field of 2 MiB', () => [{ ...goodEntry('site'), extra: 'x'.repeat(2 * 1024 * 1024) }]],
  ['1,000 levels', () => [{ ...goodEntry('site'), extra: nested(1000) }]],
  ['one id for all', () => sameId(500)],
  ['no list', () => ({ length: 3, 0: goodEntry('site') })],
  ['null', () => null],
  ['entries that are none', () => [null, 1, 'x', [], [[]], true]],
]

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level += 1) value = [value]
  return value
}

function sameId(count: number): object[] {
  const id = randomUUID()
  return Array.from({ length: count }, (_, index) => ({ ...goodEntry(`same-${index}`), id }))
}
