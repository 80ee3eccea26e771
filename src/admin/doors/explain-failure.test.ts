import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { getSystemErrorMap } from 'node:util'
import { lockVault } from '../../hub/vault/vault.ts'
import { SvcError, UserError } from '../../platform/errors.ts'
import { explainFailure } from './explain-failure.ts'

const ATTEMPT = { root: '/vault', action: 'use the vault at /vault' }

function systemError(code: string): Error {
  const [errno] = [...getSystemErrorMap()].find(([, [name]]) => name === code) ?? [0]
  return Object.assign(new Error(`${code}: some text, open '/vault/x'`), { code, errno })
}

function explain(error: unknown): SvcError {
  const explained = explainFailure(error, ATTEMPT)
  assert.ok(explained instanceof SvcError)
  return explained
}

describe('explainFailure', () => {
  for (const [code, message, hint] of [
    ['EACCES', 'permission denied', 'run svc as the owner of /vault, or as root'],
    ['EPERM', 'operation not permitted', 'run svc as the owner of /vault, or as root'],
    ['ENOSPC', 'no space left on device', 'free space for /vault first'],
    ['EROFS', 'read-only file system', 'SVC_VAULT_ROOT says where the vault is'],
    ['ENOTDIR', 'not a directory', 'SVC_VAULT_ROOT says where the vault is'],
  ] as const) {
    test(`gives the reason of ${code}, and a way out`, () => {
      const bare = explain(systemError(code))
      assert.equal(bare.message, `cannot use the vault at /vault: ${message}`)
      assert.equal(bare.hint, hint)
      const cause = systemError(code)
      const wrapped = explain(new SvcError('vault_unavailable', 'cannot create it', { cause }))
      assert.equal(wrapped.code, 'vault_unavailable')
      assert.equal(wrapped.message, `cannot create it: ${message}`)
      assert.equal(wrapped.hint, hint)
    })
  }

  test('takes the reason from a real error', () => {
    try {
      readFileSync('/dev/null/x')
    } catch (error) {
      assert.match(explain(error).message, /: not a directory$/)
      return
    }
    assert.fail('was read')
  })

  test('leaves the way out of a vault that cannot be looked at to its reason', () => {
    try {
      lockVault('/dev/null')
    } catch (error) {
      const { message, hint } = explain(error)
      assert.equal(message, 'cannot read /dev/null/config.json: not a directory')
      assert.equal(hint, 'SVC_VAULT_ROOT says where the vault is')
      return
    }
    assert.fail('was locked')
  })

  test('says where to look when the database cannot be written', () => {
    const { message, hint } = explain(new SvcError('store_unavailable', 'no space left'))
    assert.equal(message, 'no space left')
    assert.equal(hint, 'check the owner, the mode and the free space of /vault')
  })

  for (const error of [
    new UserError('config_invalid', 'no such file', { cause: systemError('ENOENT') }),
    new SvcError('hub_unreachable', 'broken', { cause: systemError('EPIPE'), hint: 'look' }),
    new SvcError('vault_missing', 'no vault'),
    new TypeError('a bug'),
  ]) {
    test(`leaves alone what is clear already: ${error.message}`, () => {
      assert.equal(explainFailure(error, ATTEMPT), error)
    })
  }
})
