// What several hubs ask of one CA at once. docs/protocol.md HUB-11, CAX-10.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { postgresProgram, skipUnlessRunnable } from '../services/support/required-programs.ts'
import type { AdminHubRow } from '../../src/protocol/admin/hubs.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import type { HubProcess } from '../support/hub-process.ts'
import { waitUntil } from '../support/processes.ts'
import { type ScriptedCa, startScriptedCa } from '../support/scripted-ca.ts'
import { type SeveralHubs, startSeveralHubs } from '../support/several-hubs.ts'

/** Of all hubs together. */
const CALLS_MAX = 16
const EACH = 20
/** How long the CA works on a request. */
const CA_MS = 150

describe(
  'several hubs and one CA',
  { skip: skipUnlessRunnable([postgresProgram('postgres')]) },
  () => {
    let ca: ScriptedCa
    let hubs: SeveralHubs
    let atOnce = 0
    let most = 0
    before(async () => {
      const work = async (): Promise<void> => {
        atOnce += 1
        most = Math.max(most, atOnce)
        await pause(CA_MS)
        atOnce -= 1
      }
      ca = await startScriptedCa(() => ({ kind: 'sign_after', released: work() }))
      hubs = await startSeveralHubs(3, { caEnvironment: ca.environment })
    })
    after(async () => {
      await hubs[Symbol.asyncDispose]()
      await ca[Symbol.asyncDispose]()
    })

    /** Each of them has been told how many run. */
    const knowOneAnother = async (running: readonly HubProcess[]): Promise<void> => {
      const since = Date.now()
      await waitUntil('a beat of each hub', async () => {
        const listed = await running[0]?.admin<{ hubs: readonly AdminHubRow[] }>(
          'GET',
          '/v1/admin/hubs',
        )
        const isTold = ({ state, last_beat_at: at }: AdminHubRow): boolean =>
          state === 'stopped' || Date.parse(at) > since + CA_MS
        return listed?.hubs.every(isTold) === true ? true : undefined
      })
    }
    const enrolAtAll = async (running: readonly HubProcess[], name: string): Promise<number> => {
      most = 0
      await Promise.all(
        running.flatMap((hub, at) =>
          Array.from({ length: EACH }, (_, number) =>
            enrollHost(hub, `${name}-${at}-${number}.example.org`),
          ),
        ),
      )
      return most
    }

    test('[HUB-11] the calls that three hubs have under way are within the limit of one', async (context) => {
      await knowOneAnother(hubs.all)
      const calls = await enrolAtAll(hubs.all, 'three')
      context.diagnostic(`${calls} calls at once, of ${hubs.all.length * EACH} enrolments`)
      assert.ok(calls <= CALLS_MAX, `${calls} calls at once`)
      assert.ok(calls > CALLS_MAX / 3, `${calls} calls at once: each hub has a share`)
    })

    test('[HUB-11] two that are left have the share of the third', async (context) => {
      const [first, second, third] = hubs.all
      assert.ok(first && second && third)
      await third.stop()
      await knowOneAnother([first, second])
      const calls = await enrolAtAll([first, second], 'two')
      context.diagnostic(`${calls} calls at once, of ${2 * EACH} enrolments`)
      assert.ok(calls <= CALLS_MAX, `${calls} calls at once`)
      assert.ok(calls > (CALLS_MAX / 3) * 2, `${calls} calls at once: the shares have grown`)
    })
  },
)
