import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createLogging } from '../../../platform/logger.ts'
import type { LogTree } from '../../domain/log-tree.ts'
import { growLogTree, newLogTree } from '../log-tree.ts'
import { OutsideCopy } from './outside-copy.ts'

describe('[CHN-17] the copy of a checkpoint outside the vault', () => {
  let nowMs: number
  let logged: string
  let answers: { readonly resolve: () => void; readonly reject: (error: Error) => void }[]
  let trees: LogTree[]
  beforeEach(() => {
    nowMs = 0
    logged = ''
    answers = []
    let tree = newLogTree('v')
    trees = ['1', '2', '3'].map((record) => {
      tree = growLogTree(tree, [record]).tree
      return tree
    })
  })

  function open(): OutsideCopy {
    const write = (line: string): void => {
      logged += line
    }
    const logging = createLogging({
      filter: { levelOf: () => 'info' },
      format: 'json',
      destination: { write },
    })
    return new OutsideCopy({
      clock: {
        now: () => new Date(nowMs),
        sleep: async (durationMs) => {
          nowMs += durationMs
        },
      },
      log: logging.forModule('test'),
      publish: () =>
        new Promise<void>((resolve, reject) => {
          answers.push({ resolve, reject })
        }),
    })
  }

  const [first, second, third] = [0, 1, 2]
  const offer = async (copy: OutsideCopy, which: number, atMs: number): Promise<unknown> => {
    nowMs = atMs
    copy.offer(trees[which] ?? assert.fail())
    await nextTurn()
    return copy.shown?.frontier.size
  }

  test('comes before agents see the checkpoint', async () => {
    const copy = open()
    assert.equal(await offer(copy, first, 0), undefined)
    answers[0]?.resolve()
    assert.equal(await offer(copy, first, 1000), 1)
    assert.deepEqual(copy.coveredAt, new Date(1000))
    assert.equal(await offer(copy, second, 2000), 1)
    assert.equal(await offer(copy, third, 3000), 1)
    answers[1]?.resolve()
    assert.equal(await offer(copy, third, 4000), 2)
    assert.equal(await offer(copy, third, 5000), 2)
    assert.equal(answers.length, 3)
    assert.equal(logged, '')
  })

  test('is waited for no longer than ten seconds, one at a time, and told of once', async () => {
    const copy = open()
    await offer(copy, first, 0)
    assert.equal(await offer(copy, second, 9000), undefined)
    assert.equal(await offer(copy, second, 10_001), 2)
    assert.equal(await offer(copy, third, 11_000), 3)
    assert.equal(answers.length, 1)
    assert.equal(copy.coveredAt, undefined)
    assert.equal(logged.match(/"reason":"it does not answer"/g)?.length, 1)
    answers[0]?.resolve()
    // An older one that came through at last is not shown again.
    assert.equal(await offer(copy, third, 12_000), 3)
    assert.equal(await offer(copy, third, 13_000), 3)
    assert.equal(answers.length, 2)
  })

  test('that fails is shown all the same, and tried again with the next look', async () => {
    const copy = open()
    await offer(copy, first, 0)
    answers[0]?.reject(new Error('read-only file system'))
    await nextTurn()
    assert.equal(copy.shown?.frontier.size, 1)
    await offer(copy, first, 1000)
    assert.equal(answers.length, 2)
    answers[1]?.resolve()
    await offer(copy, first, 2000)
    assert.match(logged, /read-only file system.*\n.*Checkpoint kept outside the vault again/)
  })

  test('is waited for by who asks what another hub has signed, and no longer than agents are', async () => {
    const copy = open()
    const asked = copy.show(trees[second] ?? assert.fail())
    answers[0]?.resolve()
    await asked
    assert.equal(copy.shown?.frontier.size, 2)
    await copy.show(trees[first] ?? assert.fail())
    assert.equal(copy.shown?.frontier.size, 2, 'nobody is shown an older one')
    await copy.show(trees[third] ?? assert.fail())
    assert.equal(copy.shown?.frontier.size, 3, 'the place has not answered for ten seconds')
  })
})
