import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../../../test/support/property.ts'
import { createCallerDebts } from './caller-debts.ts'
import { callerOf } from './caller-key.ts'
import { StrangerQueue } from './stranger-queue.ts'

interface Waiting {
  readonly address: string
  readonly sinceMs: number
}

const ADDRESSES = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2', '2001:db8:0:1::1']
const LIMITS = { waitingMax: 6, waitingPerCallerMax: 3 }

const address = fc.constantFrom(...ADDRESSES)
const anyStep = fc.oneof(
  { weight: 4, arbitrary: fc.record({ push: address }) },
  { weight: 3, arbitrary: fc.constant('shift' as const) },
  fc.record({ charge: address, costMs: fc.nat(40) }),
  fc.record({ passMs: fc.nat(500) }),
)

test('[LIM-24] [LIM-25] [LIM-26] who waits goes in the order of debts and arrival, and the queue has an end', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 80 }), (steps) => {
      const debts = createCallerDebts()
      const queue = new StrangerQueue<Waiting>(debts, LIMITS)
      const model: Waiting[] = []
      const take = (gone: Waiting): void => void model.splice(model.indexOf(gone), 1)
      const waitingOf = ({ key }: { readonly key: string }): Waiting[] =>
        model.filter((waiting) => callerOf(waiting.address).key === key)
      const siteOf = (one: Waiting): string => {
        const { key, siteKey = key } = callerOf(one.address)
        return siteKey
      }
      const countOfSite = (site: string): number =>
        model.filter((other) => siteOf(other) === site).length
      const rankOf = (waiting: Waiting): number =>
        Math.max(debts.freeAtMs(callerOf(waiting.address)), waiting.sinceMs)
      let nowMs = 1
      for (const step of steps) {
        if (step === 'shift') {
          const dueMs = queue.findDueMs()
          const shifted = queue.shift()
          assert.equal(shifted === undefined, model.length === 0)
          if (shifted === undefined) continue
          assert.equal(rankOf(shifted.item), dueMs)
          assert.equal(dueMs, Math.min(...model.map(rankOf)))
          assert.equal(waitingOf(shifted.caller)[0], shifted.item)
          take(shifted.item)
        } else if ('push' in step) {
          const newest = { address: step.push, sinceMs: nowMs }
          const isFull = model.length === LIMITS.waitingMax
          const own = waitingOf(callerOf(step.push)).length
          model.push(newest)
          const dropped = queue.push(step.push, newest, nowMs)
          if (own === LIMITS.waitingPerCallerMax) assert.equal(dropped, newest)
          else assert.equal(dropped !== undefined, isFull)
          if (dropped === undefined) continue
          const isOwn = dropped === newest
          const mostOfSite = Math.max(...model.map((one) => countOfSite(siteOf(one))))
          if (!isOwn) {
            assert.equal(countOfSite(siteOf(dropped)), mostOfSite)
            assert.equal(waitingOf(callerOf(dropped.address)).at(-1), dropped)
          }
          const isMost = countOfSite(siteOf(newest)) === mostOfSite
          assert.equal(isOwn, isMost || own === LIMITS.waitingPerCallerMax)
          take(dropped)
        } else if ('charge' in step) debts.charge(callerOf(step.charge), step.costMs, nowMs)
        else nowMs += step.passMs
      }
    }),
    propertyRuns(1000),
  )
})
