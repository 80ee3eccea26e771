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
const DAY_MS = 24 * 60 * 60_000
const ATTEMPT = { ...ANNOUNCED, attempt: 1 }

describe('[UPD-25] [RLO-39] what the agent does about an announced update', () => {
  let directory: string
  let events: AgentEvent[]
  let host: ReturnType<typeof openHost>

  /** Of one process of the agent. */
  const openHost = (ownVersion = '0.4.0', isPermitted = true) => {
    const clock = createSettableClock(NOW)
    let elapsedMs = 0
    const memory = newAnnouncementMemory()
    const { log } = collectLog()
    const context = {
      paths: { stateDir: directory, announcedUpdateFile: join(directory, 'announced-update.json') },
      clock,
      elapsedMs: () => elapsedMs,
      log,
      outbox: { enqueue: async (event: AgentEvent) => void events.push(event) },
      ownVersion,
      isPermitted,
      binary: join(directory, 'svc-agent'),
    }
    const round = (announced: typeof ANNOUNCED | undefined = ANNOUNCED) =>
      followAnnouncement(context, memory, announced)
    const rest = (minutes = 3) => void (elapsedMs += minutes * 60_000)
    return { clock, round, rest, withdraw: () => followAnnouncement(context, memory, undefined) }
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
    const payload = { versao: '0.5.0', rollout: ANNOUNCED.rollout }
    assert.deepEqual(events, [{ type: 'agent_updated', payload }])
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
    const erro = 'signature does NOT match (signature_invalid)'
    const failed = { versao: '0.5.0', rollout: ANNOUNCED.rollout, erro }
    assert.deepEqual(events, [{ type: 'agent_update_failed', payload: failed }])
    await openHost('0.4.0', false).round({ ...ANNOUNCED, rollout: 'f'.repeat(16) })
    const declined = events.at(-1)
    assert.equal(declined?.type, 'agent_update_declined')
    assert.match(JSON.stringify(declined.payload), /SVC_AGENT_UPDATE_URL is not set/)
  })

  test('an outcome of an earlier rollout, or attempt, is none', async () => {
    await answer({ code: 'download_failed', message: 'of before' })
    await host.round({ ...ANNOUNCED, rollout: 'f'.repeat(16) })
    await host.round({ ...ANNOUNCED, rollout: 'f'.repeat(16) })
    assert.deepEqual(events, [])
    assert.match(await request(), /rollout=ffffffffffffffff attempt=1/)
  })

  test('a version that came to nothing is not tried for another rollout, for a day', async () => {
    for (const failure of [undefined, { code: 'signature_invalid', message: 'no match' }]) {
      await rm(join(directory, 'announced-update.json'), { force: true })
      await rm(updateOutcomePath(directory), { force: true })
      host = openHost()
      await host.round()
      await rm(updateRequestPath(directory))
      await answer(failure)
      // Already the next manifest names another one, of which the outcome is not.
      for (let one = 1; one <= 40; one++) {
        host.rest()
        await host.round({ ...ANNOUNCED, rollout: String(one).padStart(16, '0') })
        if (one % 10 === 0) await host.withdraw()
      }
      assert.equal(existsSync(updateRequestPath(directory)), false)
      assert.match(JSON.stringify(events.at(-1)), /0\.5\.0 failed on this host, or was taken back/)
      // Another version is.
      await host.round({ version: '0.5.1', rollout: 'e'.repeat(16) })
      assert.match(await request(), /version=0\.5\.1/)
      await rm(updateRequestPath(directory))
      // Nor the first one for the first rollout.
      host.rest()
      await host.round()
      assert.equal(existsSync(updateRequestPath(directory)), false)
      host.clock.pass(DAY_MS)
      host.rest()
      await host.round({ ...ANNOUNCED, rollout: 'd'.repeat(16) })
      assert.match(await request(), /rollout=d/)
      await rm(updateRequestPath(directory))
    }
  })

  test('a rollout that was told so is not begun when the day is over', async () => {
    await host.round()
    await rm(updateRequestPath(directory))
    await answer()
    const other = { ...ANNOUNCED, rollout: 'f'.repeat(16) }
    await host.round(other)
    host.clock.pass(DAY_MS)
    host.rest()
    await host.round(other)
    assert.equal(existsSync(updateRequestPath(directory)), false)
    assert.equal(events.length, 1)
  })

  test('what could not be fetched is tried for another rollout, minutes after the last', async () => {
    await host.round()
    await rm(updateRequestPath(directory))
    await answer({ code: 'download_failed', message: 'cannot fetch it' })
    for (let one = 1; one <= 9; one++) {
      await host.round({ ...ANNOUNCED, rollout: String(one).padStart(16, '0') })
      await host.withdraw()
      assert.equal(existsSync(updateRequestPath(directory)), false)
    }
    host.rest()
    await host.round({ ...ANNOUNCED, rollout: 'f'.repeat(16) })
    assert.match(await request(), /rollout=ffffffffffffffff attempt=1/)
  })

  test('no clock that is set ends the wait, or prolongs it', async () => {
    await host.round()
    await rm(updateRequestPath(directory))
    for (const days of [400, -800]) {
      host.clock.pass(days * DAY_MS)
      await host.round()
      assert.deepEqual(events, [])
    }
    host.rest(40)
    await host.round()
    assert.match(JSON.stringify(events), /nothing on this host took the request up/)
  })

  test('it takes back what nobody has taken up when the hub announces it no more', async () => {
    await host.round()
    await host.withdraw()
    assert.equal(existsSync(updateRequestPath(directory)), false)
    // Also that of a process before.
    host.rest()
    await host.round()
    assert.match(await request(), /attempt=1/)
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
    host.rest()
    host.clock.pass(DAY_MS)
    await host.round({ ...ANNOUNCED, rollout: 'f'.repeat(16) })
    await rm(updateRequestPath(directory))
    // The helper is at it, and the new version is started.
    await host.withdraw()
    const next = openHost('0.5.0')
    await next.withdraw()
    await next.withdraw()
    assert.deepEqual(events, [
      { type: 'agent_updated', payload: { versao: '0.5.0', rollout: 'f'.repeat(16) } },
    ])
  })

  test('a record that is damaged is none', async () => {
    for (const text of ['', '{', '{"rollout":7}', '[]']) {
      await writeFile(join(directory, 'announced-update.json'), text)
      await openHost().round()
      assert.match(await request(), /attempt=1/)
    }
  })
})
