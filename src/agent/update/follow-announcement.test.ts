import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { collectLog } from '../../../test/support/collected-log.ts'
import { createSettableClock } from '../../../test/support/settable-clock.ts'
import type { AgentEvent } from '../hub/wire.ts'
import { followAnnouncement, newAnnouncementMemory } from './follow-announcement.ts'
import { formatOutcome, updateOutcomePath, updateRequestPath } from './update-request.ts'

const NOW = new Date('2030-01-01T12:00:00Z')
const ANNOUNCED = { version: '0.5.0', rollout: '0123456789abcdef' }
const ATTEMPT = { ...ANNOUNCED, attempt: 1 }

describe('[UPD-25] [RLO-39] what the agent does about an announced update', () => {
  let directory: string
  let events: AgentEvent[]
  let host: ReturnType<typeof openHost>

  /** Of one process of the agent. */
  const openHost = (ownVersion = '0.4.0', isPermitted = true) => {
    const clock = createSettableClock(NOW)
    const memory = newAnnouncementMemory()
    const { log } = collectLog()
    const context = {
      paths: { stateDir: directory, announcedUpdateFile: join(directory, 'announced-update.json') },
      clock,
      log,
      outbox: { enqueue: async (event: AgentEvent) => void events.push(event) },
      ownVersion,
      isPermitted,
      binary: join(directory, 'svc-agent'),
    }
    const round = (announced: typeof ANNOUNCED | undefined = ANNOUNCED) =>
      followAnnouncement(context, memory, announced)
    return { clock, round, withdraw: () => followAnnouncement(context, memory, undefined) }
  }
  const request = (): Promise<string> => readFile(updateRequestPath(directory), 'utf8')
  const answer = (failure?: { code: string; message: string }) =>
    writeFile(updateOutcomePath(directory), formatOutcome({ ...ATTEMPT, failure }))

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'announced-'))
    events = []
    host = openHost()
  })
  afterEach(() => rm(directory, { recursive: true, force: true }))

  test('it asks once, in its own state, and waits', async () => {
    await host.round()
    assert.equal(await request(), 'version=0.5.0 rollout=0123456789abcdef attempt=1\n')
    await rm(updateRequestPath(directory))
    await host.round()
    assert.equal(existsSync(updateRequestPath(directory)), false)
    assert.deepEqual(events, [])
  })

  test('it says once that the version runs, when nothing is on trial', async () => {
    await host.round()
    await answer()
    const marker = join(directory, 'svc-agent.update')
    await writeFile(marker, '')
    await utimes(marker, NOW, NOW)
    const next = openHost('0.5.0')
    await next.round()
    assert.deepEqual(events, [], 'it is on trial')
    await rm(marker)
    await next.round()
    await next.round()
    assert.deepEqual(events, [{ type: 'agent_updated', payload: { versao: '0.5.0' } }])
  })

  test('a marker that nobody watches is no trial', async () => {
    const marker = join(directory, 'svc-agent.update')
    await writeFile(marker, '')
    const old = new Date(NOW.getTime() - 11 * 60_000)
    await utimes(marker, old, old)
    await openHost('0.5.0').round()
    assert.equal(events.length, 1)
  })

  test('it says why it failed, or declined, once for each reason, also after it was started again', async () => {
    await host.round()
    await answer({ code: 'signature_invalid', message: 'signature does NOT match' })
    await host.round()
    await openHost().round()
    const failed = { versao: '0.5.0', erro: 'signature does NOT match (signature_invalid)' }
    assert.deepEqual(events, [{ type: 'agent_update_failed', payload: failed }])
    await openHost('0.4.0', false).round({ ...ANNOUNCED, rollout: 'f'.repeat(16) })
    const declined = events.at(-1)
    assert.equal(declined?.type, 'agent_update_declined')
    assert.match(JSON.stringify(declined.payload), /SVC_AGENT_UPDATE_URL is not set/)
  })

  test('an outcome of an earlier rollout, or attempt, is none', async () => {
    await answer({ code: 'x', message: 'of before' })
    await host.round({ ...ANNOUNCED, rollout: 'f'.repeat(16) })
    await host.round({ ...ANNOUNCED, rollout: 'f'.repeat(16) })
    assert.deepEqual(events, [])
    assert.match(await request(), /rollout=ffffffffffffffff attempt=1/)
  })

  test('it takes back what nobody has taken up when the hub announces it no more', async () => {
    await host.round()
    await host.withdraw()
    assert.equal(existsSync(updateRequestPath(directory)), false)
    // Also that of a process before.
    await host.round()
    await openHost().withdraw()
    assert.equal(existsSync(updateRequestPath(directory)), false)
  })

  test('what was begun is reported also when the hub announces it no more, and is not begun again', async () => {
    await host.round()
    await rm(updateRequestPath(directory))
    await answer()
    await host.withdraw()
    assert.equal(events.at(-1)?.type, 'agent_update_failed')
    events.length = 0
    await host.round({ ...ANNOUNCED, rollout: 'f'.repeat(16) })
    await rm(updateRequestPath(directory))
    // The helper is at it, and the new version is started.
    await host.withdraw()
    const next = openHost('0.5.0')
    await next.withdraw()
    await next.withdraw()
    assert.deepEqual(events, [{ type: 'agent_updated', payload: { versao: '0.5.0' } }])
  })

  test('a record that is damaged is none', async () => {
    for (const text of ['', '{', '{"rollout":7}', '[]']) {
      await writeFile(join(directory, 'announced-update.json'), text)
      await openHost().round()
      assert.match(await request(), /attempt=1/)
    }
  })
})
