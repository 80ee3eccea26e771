import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createFakeAuthority } from '../../../../test/fakes/fake-authority.ts'
import { createLogging } from '../../../platform/logger.ts'
import { CaError } from '../../ca/certificate-authority.ts'
import { createTryLifetime } from './try-lifetime.ts'

const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('x')
const clock = { now: () => new Date('2026-11-23T00:00:00Z') }

describe('[POL-19] a life on trial', () => {
  test('is asked for once, for a name that no host has, and revoked', async () => {
    const authority = createFakeAuthority(clock)
    const revoked: string[] = []
    const tryLifetime = createTryLifetime(
      {
        ...authority,
        revoke: async (serial) => {
          revoked.push(serial)
          return { kind: 'refused', reason: 'no' }
        },
      },
      log,
    )
    assert.deepEqual(await tryLifetime(7200), { serial: '1', revoked: false })
    assert.deepEqual(revoked, ['1'])
    assert.deepEqual(
      authority.asked.map(({ commonName, sans, lifetimeSeconds }) => [
        commonName,
        [...sans],
        lifetimeSeconds,
      ]),
      [['cartorio-trial.invalid', ['cartorio-trial.invalid'], 7200]],
    )
  })

  test('that the CA refuses is asked for once more without the life: only then is the life to blame', async () => {
    const authority = createFakeAuthority(clock)
    const refusal = new CaError('refused', 'the CA refused to sign (403): too long')
    const picky = {
      ...authority,
      sign: async (request: Parameters<typeof authority.sign>[0]) => {
        if (request.lifetimeSeconds !== undefined) throw refusal
        return authority.sign(request)
      },
    }
    await assert.rejects(createTryLifetime(picky, log)(172_800), {
      code: 'cert_ttl_refused',
      message: 'the CA signs no certificate of 2d: the CA refused to sign (403): too long',
    })
    authority.failWith(new CaError('refused', 'the CA refused to sign (403): no such name'))
    await assert.rejects(createTryLifetime(authority, log)(172_800), {
      code: 'cert_ttl_untested',
      message:
        'nobody could try whether the CA signs certificates of 2d: the CA refused to sign (403): no such name',
    })
  })

  test('waits for the one before it, and nine at once are too many', async () => {
    const authority = createFakeAuthority(clock)
    const release = authority.hold()
    const tryLifetime = createTryLifetime(authority, log)
    const trials = Array.from({ length: 8 }, () => tryLifetime(900))
    await authority.untilAsked(1)
    await assert.rejects(tryLifetime(900), {
      code: 'cert_ttl_untested',
      message:
        'nobody could try whether the CA signs certificates of 15m: too many trials wait already',
    })
    assert.equal(authority.asked.length, 1)
    release()
    await Promise.all(trials)
    assert.equal(authority.asked.length, 8)
    assert.equal((await tryLifetime(900)).revoked, true)
  })
})
