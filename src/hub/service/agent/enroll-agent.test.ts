import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { createLogging } from '../../../platform/logger.ts'
import { insertToken, NOW } from '../../../../test/store/store-samples.ts'
import { createEnrollAgent } from './enroll-agent.ts'
import { hashToken } from '../hash-token.ts'

const TOKEN = 'svct_any'

test('[TOK-4] a token that was refused as expired stays so when the clock is set back', async () => {
  await using store = await openTemporaryStore()
  const expiresAt = new Date(NOW.getTime() + 60_000)
  await insertToken(store, { hash: hashToken(TOKEN), expiresAt })
  let now = NOW
  const enrollAgent = createEnrollAgent({
    store,
    clock: { now: () => now, sleep: () => Promise.resolve() },
    authority: {
      rootPem: '',
      sign: () => assert.fail('nothing is signed'),
      revoke: () => assert.fail('nothing is revoked'),
    },
    log: createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test'),
    hubNames: ['hub.example'],
  })
  const refusalAt = async (at: Date): Promise<string | undefined> => {
    now = at
    const request = { token: TOKEN, hostname: 'web-1', role: 'web', csr_pem: 'no' }
    const outcome = await enrollAgent(request, undefined)
    return outcome.ok ? undefined : outcome.refusal
  }
  assert.equal(await refusalAt(NOW), 'csr_invalid')
  assert.equal(await refusalAt(expiresAt), 'token_expired')
  const commits = store.version
  assert.equal(await refusalAt(NOW), 'token_expired')
  assert.equal(store.version, commits, 'and is written down once')
})
