import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sceneOf, SILENT_HUB, SOUND } from '../../test/support/sound-scene.ts'
import { CHECKS } from './checks.ts'
import { Unchecked } from './finding.ts'
import { exitStatusOf, runChecks } from './run-checks.ts'

describe('the checks of svc doctor', () => {
  test('[DOC-1] [DOC-2] [DOC-4] find nothing wrong where nothing is', async () => {
    const results = await runChecks(CHECKS, sceneOf())
    assert.deepEqual(
      results.map(({ id, status: found }) => `${id} ${found}`),
      CHECKS.map(({ id }) => `${id} ok`),
    )
    assert.equal(exitStatusOf(results), 0)
  })

  test('[DOC-1] have these ids, which programs know', () => {
    assert.equal(
      CHECKS.map(({ id }) => id).join(' '),
      'hub settings files vault disk clock ca database standby lifetime certificate issuers names public-url ports limits core-dumps swap log checkpoint backup archive agents deliveries rollouts webhooks revocations openid',
    )
  })

  test('[DOC-2] leave out what only a hub can say where none answers', async () => {
    const results = await runChecks(CHECKS, sceneOf({ hub: SILENT_HUB, listeners: [] }))
    assert.deepEqual(
      results.flatMap(({ id, status: found }) => (found === 'ok' ? [] : [`${id} ${found}`])),
      [
        'hub error',
        'log skipped',
        'archive skipped',
        'agents skipped',
        'deliveries skipped',
        'rollouts skipped',
        'webhooks skipped',
        'revocations skipped',
        'openid skipped',
      ],
    )
  })

  test('[DOC-29] ask no hub on the machine of a standby', async () => {
    const standby = { ...SOUND.standby!.status!, role: 'standby' as const, state: 'connected' }
    const results = await runChecks(
      CHECKS.filter(({ id }) => ['hub', 'standby'].includes(id)),
      sceneOf({ hub: SILENT_HUB, standby: { role: 'standby', status: standby } }),
    )
    assert.deepEqual(
      results.map(({ id, status: found }) => `${id} ${found}`),
      ['hub skipped', 'standby ok'],
    )
  })

  test('[DOC-20] leave out what is of the hub’s machine for a hub elsewhere', async () => {
    const elsewhere = new Unchecked('elsewhere', { isExpected: true })
    const results = await runChecks(
      CHECKS,
      sceneOf({
        settings: elsewhere,
        secrets: elsewhere,
        vault: elsewhere,
        unit: elsewhere,
        machine: elsewhere,
        listeners: elsewhere,
        names: elsewhere,
        publicUrl: elsewhere,
        checkpointDirectory: elsewhere,
        backups: elsewhere,
        database: elsewhere,
        standby: elsewhere,
      }),
    )
    assert.deepEqual(
      results.flatMap(({ id, status: found }) => (found === 'ok' ? [] : [`${id} ${found}`])),
      [
        'settings',
        'files',
        'vault',
        'database',
        'standby',
        'names',
        'public-url',
        'ports',
        'core-dumps',
        'swap',
      ].map((id) => `${id} skipped`),
    )
    assert.equal(exitStatusOf(results), 0)
  })
})
