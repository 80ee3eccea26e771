import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemClock } from '../../../platform/clock.ts'
import type { CommandContext } from '../command-context.ts'
import { Rehearsed } from '../dry-run.ts'
import { runOnHosts } from './run-on-hosts.ts'

const HOSTS = Array.from({ length: 9 }, (_, index) => ({ name: `web-${index}` }))

/** `at` is told of each host that is asked for. */
function rehearse(ending: AbortSignal, at: (name: string) => void): Promise<void> {
  const context = {
    output: { isClosed: false, write: assert.fail },
    progress: { show: () => undefined, clear: () => undefined },
    clock: systemClock,
    note: assert.fail,
    ending: () => ending,
  } as unknown as CommandContext
  return runOnHosts(context, {
    hosts: HOSTS,
    act: async ({ name }) => {
      at(name)
      throw new Rehearsed({ dry_run: true, acts: [], agentes: 1 })
    },
    describe: () => assert.fail(),
    again: 'again',
    isJson: false,
    isRehearsal: true,
  })
}

describe('[CLI-61] the rehearsal of an act for many hosts', () => {
  test('is that of all hosts as one', async () => {
    const whole = rehearse(new AbortController().signal, () => undefined)
    await assert.rejects(whole, (error) => error instanceof Rehearsed && error.answer.agentes === 9)
  })

  test('does not pass for the whole one when it is interrupted', async () => {
    const ending = new AbortController()
    const cut = rehearse(ending.signal, (name) => {
      if (name === 'web-3') ending.abort()
    })
    await assert.rejects(cut, {
      code: 'hosts_left',
      message: '4 of 9 hosts done, 5 not tried: interrupted',
    })
  })
})
