import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatVaultConfig, parseVaultConfig, type VaultConfig } from './vault-config.ts'

const PATH = '/var/lib/svc/config.json'
const CONFIG: VaultConfig = {
  vaultId: '6f1c1b0e-6d0c-4d0b-9c39-0a5d2c8f7e11',
  keyDerivation: {
    memoryKib: 65_536,
    passes: 3,
    parallelism: 4,
    salt: Buffer.alloc(16, 0xa1),
  },
  wrappedKey: {
    nonce: Buffer.alloc(12, 0xb2),
    ciphertext: Buffer.alloc(32, 0xc3),
    tag: Buffer.alloc(16, 0xd4),
  },
}

describe('config.json', () => {
  test('is read as it was written', () => {
    assert.deepEqual(parseVaultConfig(formatVaultConfig(CONFIG), PATH), CONFIG)
  })

  test('[VLT-3] is refused whichever of its bits is flipped', () => {
    const bytes = Buffer.from(formatVaultConfig(CONFIG))
    for (let position = 0; position < bytes.length; position += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = Buffer.from(bytes)
        changed[position] = (changed[position] ?? 0) ^ (1 << bit)
        assert.throws(
          () => parseVaultConfig(changed.toString(), PATH),
          { name: 'VaultError' },
          `bit ${bit} of byte ${position}`,
        )
      }
    }
  })

  test('is refused wherever it is cut', () => {
    const text = formatVaultConfig(CONFIG)
    for (let length = 0; length < text.length; length += 1) {
      assert.throws(() => parseVaultConfig(text.slice(0, length), PATH), {
        code: 'vault_corrupt',
        message: '/var/lib/svc/config.json is damaged',
      })
    }
  })

  const outOfBounds: readonly [string, Partial<VaultConfig['keyDerivation']>][] = [
    ['more memory than a host has', { memoryKib: 1024 * 1024 + 1 }],
    ['too little memory', { memoryKib: 8 * 1024 - 1 }],
    ['passes without end', { passes: 17 }],
    ['no passes', { passes: 0 }],
    ['too many lanes', { parallelism: 17 }],
    ['half a lane', { parallelism: 0.5 }],
    ['a short salt', { salt: Buffer.alloc(8) }],
  ]
  for (const [title, change] of outOfBounds) {
    test(`[VLT-3] is refused when it asks for ${title}`, () => {
      const keyDerivation = { ...CONFIG.keyDerivation, ...change }
      const text = formatVaultConfig({ ...CONFIG, keyDerivation })
      assert.throws(() => parseVaultConfig(text, PATH), { code: 'vault_corrupt' })
    })
  }

  test('[VLT-9] of a newer format is refused as such', () => {
    const text = JSON.stringify({ format: 3, anything: true })
    assert.throws(() => parseVaultConfig(text, PATH), {
      code: 'vault_newer',
      message: '/var/lib/svc/config.json has format 3, this program knows formats up to 2',
    })
  })
})
