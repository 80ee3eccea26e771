import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../../test/support/property.ts'
import { formatVaultConfig, parseVaultConfig, type VaultConfig } from './vault-config.ts'
import { VaultError } from './vault-error.ts'

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((content) => Buffer.from(content))
const plain = { noNullPrototype: true } as const
const config: fc.Arbitrary<VaultConfig> = fc.record(
  {
    vaultId: fc.uuid(),
    keyDerivation: fc.record(
      {
        memoryKib: fc.integer({ min: 8192, max: 1024 * 1024 }),
        passes: fc.integer({ min: 1, max: 16 }),
        parallelism: fc.integer({ min: 1, max: 16 }),
        salt: bytes(16),
      },
      plain,
    ),
    wrappedKey: fc.record({ nonce: bytes(12), ciphertext: bytes(32), tag: bytes(16) }, plain),
  },
  plain,
)

function isRefused(text: string): boolean {
  try {
    parseVaultConfig(text, '/vault/config.json')
    return false
  } catch (error) {
    assert.ok(error instanceof VaultError, String(error))
    return true
  }
}

test('[VLT-3] any configuration is read as it was written', () => {
  fc.assert(
    fc.property(config, (written) => {
      assert.deepEqual(parseVaultConfig(formatVaultConfig(written), 'path'), written)
    }),
    propertyRuns(),
  )
})

test('[VLT-3] any stretch replaced, removed, doubled or moved is refused', () => {
  const place = fc.nat({ max: 700 })
  const text = fc.oneof(anyText(10), fc.constantFrom('', '0', ' ', '\n', '"', ',', '\uFEFF', '}'))
  fc.assert(
    fc.property(config, place, fc.nat({ max: 20 }), text, (written, at, length, put) => {
      const whole = formatVaultConfig(written)
      const changed = whole.slice(0, at) + put + whole.slice(at + length)
      if (changed !== whole) assert.ok(isRefused(changed), changed)
    }),
    propertyRuns(2000),
  )
})

test('[VLT-3] a value of one in the place of another’s is refused: the checksum is over all', () => {
  fc.assert(
    fc.property(
      config,
      config,
      fc.constantFrom('salt', 'nonce', 'tag', 'vault_id'),
      (a, b, name) => {
        const line = new RegExp(`"${name}": "[^"]*"`)
        const [own, other] = [formatVaultConfig(a), formatVaultConfig(b)]
        const changed = own.replace(line, line.exec(other)?.[0] ?? '')
        if (changed !== own) assert.ok(isRefused(changed))
      },
    ),
    propertyRuns(),
  )
})

test('[VLT-3] [VLT-9] any text and any JSON is refused by a VaultError', () => {
  const field = fc.constantFrom(
    'format',
    'vault_id',
    'key_derivation',
    'wrapped_key',
    'checksum',
    'salt',
  )
  const near = fc.dictionary(field, fc.oneof(fc.jsonValue(), fc.integer(), fc.uuid()))
  const json = fc.oneof(fc.jsonValue(), near).map((value) => JSON.stringify(value))
  fc.assert(
    fc.property(fc.oneof(anyText(), json), (text) => assert.ok(isRefused(text), text)),
    propertyRuns(1000),
  )
})
