import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { collectLabel, parseLabelWords, showLabels } from './label-option.ts'
import {
  parseDecidingSelector,
  parseDecidingWhereOption,
  parseWhereOption,
  requireWhere,
} from './where-option.ts'

describe('[LBL-11] --where', () => {
  test('goes to the hub in its one form, and not at all when it is none', () => {
    assert.equal(parseWhereOption(' role == web,host.os in (linux)'), 'role=web,host.os=linux')
    assert.throws(() => parseWhereOption('role=web,,'), {
      code: 'selector_invalid',
      message: '--where, column 10: "," where a key belongs',
    })
  })

  test('[LBL-7] of a command that acts looks at nothing that agents say', () => {
    assert.equal(parseDecidingWhereOption('env=prod'), 'env=prod')
    assert.throws(() => parseDecidingWhereOption('env=prod,!host.rack'), {
      code: 'selector_reported',
      message: '--where: the agents themselves say what host.rack is',
    })
  })

  test('[LBL-15] and of an admin token neither', () => {
    assert.equal(parseDecidingSelector('env == a', '--only'), 'env=a')
    assert.throws(() => parseDecidingSelector('host.os', '--only'), {
      message: '--only: the agents themselves say what host.os is',
    })
  })

  test('is not sent to a hub that would ignore it', async () => {
    const hub = (features: string[]) => ({ showFeatures: async () => ({ features }) })
    assert.deepEqual(await requireWhere(hub([]), undefined), {})
    assert.deepEqual(await requireWhere(hub(['labels']), 'env=prod'), { where: 'env=prod' })
    await assert.rejects(requireWhere(hub(['dry_run']), 'env=prod'), { code: 'hub_too_old' })
  })
})

describe('[LBL-8] labels on a command line', () => {
  test('give and take away', () => {
    assert.deepEqual(parseLabelWords(['env=prod', 'canary-', 'zone=', 'a=b-c']), {
      set: { env: 'prod', zone: '', a: 'b-c' },
      remove: ['canary'],
    })
  })

  for (const [words, why] of [
    [['canary'], 'label "canary": it has neither = nor - at its end'],
    [['a=b', 'a=c'], 'label "a=c": a is named twice'],
    [['a-', 'a-'], 'label "a-": a is named twice'],
    [['-'], 'label "-": a key is missing'],
    [['=x'], 'label "=x": a key is missing'],
    [['role=web'], 'label "role=web": each host has a role that no label replaces'],
    [['host.os-'], 'label "host.os-": only the agent of a host says what begins with host.'],
    [[`a=${'v'.repeat(64)}`], `label "a=${'v'.repeat(64)}": a value has at most 63 bytes`],
  ] as const) {
    test(`are refused as ${JSON.stringify(words).slice(0, 30)}`, () => {
      assert.throws(() => parseLabelWords(words), { code: 'label_invalid', message: why })
    })
  }

  test('of a token only give', () => {
    assert.deepEqual(collectLabel('env=prod', { zone: 'a' }), { zone: 'a', env: 'prod' })
    assert.throws(() => collectLabel('env-', {}), { message: 'label "env-": it has no =' })
    assert.throws(() => collectLabel('env=b', { env: 'a' }), {
      message: 'label "env=b": env is named twice',
    })
  })

  test('are shown by key, and of an older hub not at all', () => {
    assert.equal(showLabels(['env=', 'zone=a']), 'env=,zone=a')
    assert.equal(showLabels(undefined), null)
  })
})
