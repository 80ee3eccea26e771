import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sceneOf } from '../../test/support/sound-scene.ts'
import { SvcError } from '../platform/errors.ts'
import { fault, ok, skipped, Unchecked, warning } from './finding.ts'
import { jsonOf, renderResults, summarise } from './render-results.ts'
import { type Check, exitStatusOf, runChecks } from './run-checks.ts'

const ADVICE = { why: 'it matters', remedy: 'mend it', commands: ['mend --it'] }

function checkThat(id: string, run: Check['run']): Check {
  return { id, title: `${id} is good`, finds: '', needs: '', run }
}

const GOOD = checkThat('good', async () => [ok('all is well')])
const HANGING = checkThat('hanging', () => new Promise(() => undefined))

describe('runChecks', () => {
  test('[DOC-3] leaves a check that hangs behind, and the others as they are', async () => {
    const results = await runChecks([HANGING, GOOD], sceneOf(), 20)
    assert.deepEqual(
      results.map(({ id, status, findings }) => [id, status, findings[0]?.message]),
      [
        ['hanging', 'unknown', 'not known: no answer within 0.02 s'],
        ['good', 'ok', 'all is well'],
      ],
    )
  })

  test('[DOC-2] says why a check could not look, and no bug is hidden', async () => {
    const throwing = (error: Error) =>
      checkThat('it', async () => {
        throw error
      })
    const findingOf = async (error: Error) =>
      (await runChecks([throwing(error)], sceneOf()))[0]?.findings[0]
    assert.deepEqual(await findingOf(new Unchecked('dark')), {
      status: 'unknown',
      message: 'not known: dark',
    })
    assert.deepEqual(await findingOf(new Unchecked('elsewhere', { isExpected: true })), {
      status: 'skipped',
      message: 'elsewhere',
    })
    assert.deepEqual(await findingOf(new SvcError('x', 'cannot read it')), {
      status: 'unknown',
      message: 'not known: cannot read it',
    })
    await assert.rejects(findingOf(new TypeError('a bug')), TypeError)
  })

  test('[DOC-4] ends with 0, 1 or 2', () => {
    const statusOf = (...statuses: ('ok' | 'skipped' | 'unknown' | 'warning' | 'error')[]) =>
      exitStatusOf(statuses.map((status) => ({ status })))
    assert.equal(statusOf('ok', 'skipped'), 0)
    assert.equal(statusOf('ok', 'unknown'), 1)
    assert.equal(statusOf('warning', 'skipped'), 1)
    assert.equal(statusOf('error', 'warning', 'ok'), 2)
    assert.equal(statusOf(), 0)
  })
})

describe('what svc doctor prints', () => {
  const findings = async () =>
    runChecks(
      [
        GOOD,
        checkThat('far', async () => [skipped('not here')]),
        checkThat('bad', async () => [fault('it is wrong', ADVICE), warning('and odd', ADVICE)]),
      ],
      sceneOf(),
    )

  test('[DOC-5] is one line for what is good, and for the rest why and what to do', async () => {
    const results = await findings()
    assert.equal(
      renderResults('en', results),
      `ok           good         all is well
skipped      far          not here
error        bad          it is wrong
                          why: it matters
                          do:  mend it
                            $ mend --it
warning      bad          and odd
                          why: it matters
                          do:  mend it
                            $ mend --it
`,
    )
    assert.match(renderResults('pt', results), /^erro {9}bad/m)
    assert.equal(summarise(results), 'found 1 error, 1 warning')
  })

  test('[DOC-5] is the same as JSON, with ids that stay', async () => {
    const document = jsonOf(await findings(), new Date('2026-11-23T12:00:00Z'))
    assert.deepEqual(JSON.parse(JSON.stringify(document)), {
      checked_at: '2026-11-23T12:00:00.000Z',
      ok: false,
      exit_status: 2,
      checks: [
        {
          id: 'good',
          title: 'good is good',
          status: 'ok',
          findings: [
            { status: 'ok', message: 'all is well', why: null, remedy: null, commands: [] },
          ],
        },
        {
          id: 'far',
          title: 'far is good',
          status: 'skipped',
          findings: [
            { status: 'skipped', message: 'not here', why: null, remedy: null, commands: [] },
          ],
        },
        {
          id: 'bad',
          title: 'bad is good',
          status: 'error',
          findings: [
            {
              status: 'error',
              message: 'it is wrong',
              why: 'it matters',
              remedy: 'mend it',
              commands: ['mend --it'],
            },
            {
              status: 'warning',
              message: 'and odd',
              why: 'it matters',
              remedy: 'mend it',
              commands: ['mend --it'],
            },
          ],
        },
      ],
    })
  })
})
