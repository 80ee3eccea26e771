import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  type MisbehavingProvider,
  startMisbehavingProvider,
} from '../../test/fakes/misbehaving-provider.ts'
import { openTemporaryStore } from '../../test/support/temporary-store.ts'
import { systemClock } from '../platform/clock.ts'
import { Secret } from '../platform/secret.ts'
import type { HubConfig } from './config.ts'
import { openOpenid } from './open-openid.ts'
import { createAddressLookup } from './outbound/address-lookup.ts'

const PARTY = { id: 'hub.test', origin: 'https://hub.test:8445' }

describe('the sign-in of a hub', () => {
  const stack = new AsyncDisposableStack()
  let provider: MisbehavingProvider
  let store: Awaited<ReturnType<typeof openTemporaryStore>>
  let caPath: string
  before(async () => {
    provider = stack.use(await startMisbehavingProvider('cartorio'))
    store = stack.use(await openTemporaryStore())
    const directory = await mkdtemp(join(tmpdir(), 'oidc-'))
    stack.defer(() => rm(directory, { recursive: true }))
    caPath = join(directory, 'ca.pem')
    await writeFile(caPath, provider.rootPem)
  })
  after(() => stack.disposeAsync())

  const openSignIn = async (
    changed: Partial<Pick<HubConfig, 'isConsoleServed' | 'confirmationParty'>>,
    { issuer = provider.issuer, lookup = createAddressLookup() } = {},
  ) => {
    const opened = await openOpenid({
      config: {
        openid: {
          issuer: issuer,
          clientId: 'cartorio',
          clientSecret: undefined,
          name: 'Example SSO',
          caPath,
          scopes: 'openid',
          nameClaim: 'email',
          groupsClaim: 'groups',
          roles: [{ role: 'viewer', only: null, group: '*' }],
          ttlMs: 3_600_000,
        },
        consoleUrl: 'https://hub.test:8445/console',
        isConsoleServed: true,
        confirmationParty: undefined,
        ...changed,
      },
      vault: { dataKey: new Secret(randomBytes(32)) },
      store,
      clock: systemClock,
      lookup,
    })
    assert.ok(opened)
    return opened.signIn
  }

  test('[OID-14] has the provider ask again for svc where passkeys confirm acts, and there alone', async () => {
    const key = 'k'.repeat(43)
    const askedFor = async (
      wanted: 'console' | 'svc',
      confirmationParty: HubConfig['confirmationParty'],
    ) => {
      const signIn = await openSignIn({ confirmationParty })
      const begun = await (wanted === 'svc'
        ? signIn.start({ for: 'svc', port: 41_234, key }, 'program')
        : signIn.start({ for: 'console', key }, 'own page'))
      assert.ok('url' in begun)
      const { searchParams } = new URL(begun.url)
      return [searchParams.get('prompt'), searchParams.get('max_age')]
    }
    assert.deepEqual(await askedFor('svc', PARTY), ['login', '0'])
    assert.deepEqual(await askedFor('svc', undefined), [null, null])
    assert.deepEqual(await askedFor('console', PARTY), [null, null])
  })

  test('[OID-2] is for no page where no console is served', async () => {
    assert.equal((await openSignIn({})).shown.console, true)
    assert.equal((await openSignIn({ isConsoleServed: false })).shown.console, false)
  })

  test('[OID-9] [WHK-13] asks no provider in the neighbourhood of the machine, by its address or by a name', async () => {
    const whyOf = async (issuer: string) => {
      const lookup = createAddressLookup(async () => [{ address: '169.254.169.254', family: 4 }])
      const signIn = await openSignIn({}, { issuer, lookup })
      const key = 'k'.repeat(43)
      const begun = await signIn.start({ for: 'svc', port: 41_234, key }, 'program')
      assert.ok('refusal' in begun)
      assert.equal(begun.refusal, 'sign_in_provider_unavailable')
      return begun.reason
    }
    assert.match(
      (await whyOf('https://169.254.169.254')) ?? '',
      /the hub does not ask 169\.254\.169\.254$/,
    )
    assert.match(
      (await whyOf('https://sso.test')) ?? '',
      /sso\.test leads to 169\.254\.169\.254, where the hub does not send$/,
    )
  })
})
