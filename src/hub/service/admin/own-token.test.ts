import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { NOW } from '../../../../test/store/store-samples.ts'
import type { AdminRehearsal } from '../../../protocol/admin/operation.ts'
import type { AdminAccessToken } from '../../../protocol/admin/admin-tokens.ts'
import type { TokenHash } from '../../../protocol/identifiers.ts'
import { hashBoundedToken, hashToken } from '../../domain/hash-token.ts'
import type { Store } from '../../store/store.ts'
import type { AdminCaller, PerformOperation } from './admin-context.ts'
import { createAdminOperations } from './admin-operations.ts'
import { createPerformOperation } from './perform-operation.ts'

const HUB = {
  clock: { now: () => NOW, sleep: () => Promise.resolve() },
  addresses: { enrollUrl: '', mtlsUrl: '' },
  hubNames: [],
  contentBytesMax: 1024,
  renewalThresholdMs: 0,
}
const SESSION = 'f'.repeat(64) as TokenHash

interface Setting {
  readonly store: Store
  readonly perform: PerformOperation
  readonly make: (name: string, only?: string) => Promise<AdminCaller>
}

async function withTokens(work: (setting: Setting) => Promise<void>): Promise<void> {
  await using store = await openTemporaryStore()
  const operations = createAdminOperations({ store, ...HUB }, 'admin', 'admin')
  await work({
    store,
    perform: createPerformOperation({ store, ...HUB }),
    make: async (name, only) => {
      const role = only === undefined ? 'viewer' : 'operator'
      const request = { name, role, ...(only !== undefined && { only }) } as const
      const { token } = await operations.createAccessToken(request)
      const hash = only === undefined ? hashToken(token) : hashBoundedToken(token)
      return { actor: `token:${name}`, role, only: only ?? null, token: hash }
    },
  })
}

test('[OID-40] a token of any role, bounded or not, is shown what it is', () =>
  withTokens(async ({ perform, make }) => {
    const plain = (await perform('showOwnToken', {}, await make('ci'))) as AdminAccessToken
    assert.deepEqual([plain.name, plain.role, plain.only], ['ci', 'viewer', null])
    const stage = (await perform(
      'showOwnToken',
      {},
      await make('stage', 'env=stage'),
    )) as AdminAccessToken
    assert.deepEqual([stage.name, stage.role, stage.only], ['stage', 'operator', 'env=stage'])
  }))

test('[OID-41] a token of any role ends itself and no other one, once, and the log says why', () =>
  withTokens(async ({ store, perform, make }) => {
    for (const only of [undefined, 'env=stage']) {
      const own = await make(only === undefined ? 'ci' : 'stage', only)
      const other = await make(only === undefined ? 'cd' : 'prod', only)
      const seq = await lastSeq(store.reader)
      const rehearsed = (await perform('revokeOwnToken', { dry_run: true }, own)) as AdminRehearsal
      assert.equal(((await perform('showOwnToken', {}, own)) as AdminAccessToken).revoked_at, null)
      const revoked = (await perform('revokeOwnToken', {}, own)) as AdminAccessToken
      assert.equal(revoked.revoked_at, NOW.toISOString())
      const payload = {
        actor: own.actor,
        admin_token_id: revoked.id,
        name: revoked.name,
        reason: 'signed_out',
      }
      assert.deepEqual(await readActs(store.reader, seq), [['admin_token_revoked', payload]])
      assert.deepEqual(rehearsed.acts, [{ tipo: 'admin_token_revoked', payload, entrega_id: null }])
      assert.equal(
        ((await perform('showOwnToken', {}, other)) as AdminAccessToken).revoked_at,
        null,
      )
    }
  }))

test('[OID-41] a session ends no token, and on the socket there is none to end', () =>
  withTokens(async ({ perform, make }) => {
    const own = await make('ci')
    await assert.rejects(perform('revokeOwnToken', {}, { ...own, session: SESSION }), {
      code: 'admin_token_not_found',
      message: 'a session asks: it can end only itself',
    })
    for (const name of ['showOwnToken', 'revokeOwnToken'] as const) {
      await assert.rejects(perform(name, {}, { actor: 'admin', role: 'admin' }), {
        code: 'admin_token_not_found',
        message: 'no admin token asks',
      })
    }
  }))
