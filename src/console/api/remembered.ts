// What a screen knew when somebody was on it last, shown again until the hub answers again. While the hub is away, the age at the top is
// of the oldest of it.

import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { lastAnswerAtMs } from './clock.ts'
import { onForget } from './session.ts'

/** Of what is on the screen and was not answered since: when it was known last. */
const old = signal<ReadonlyMap<object, number>>(new Map())

/** As old as the oldest of what is on the screen; undefined before the first answer. */
export const screenAtMs: ReadonlySignal<number | undefined> = computed(() => {
  const { value: newest } = lastAnswerAtMs
  return newest === undefined ? undefined : Math.min(newest, ...old.value.values())
})

/** It is on the screen again. */
export function showOld(own: object, atMs: number | undefined): void {
  if (atMs !== undefined) old.value = new Map([...old.peek(), [own, atMs]])
}

/** The hub has answered it, or nobody looks at it any more. Answers when it was known last. */
export function dropOld(own: object): number | undefined {
  const atMs = old.peek().get(own)
  if (atMs === undefined) return lastAnswerAtMs.peek()
  old.value = new Map([...old.peek()].filter(([one]) => one !== own))
  return atMs
}

interface Remembered<Value> {
  readonly value: Value
  readonly atMs: number | undefined
}

/** By name, the newest so many; nothing of one person is left for another one. */
export function createMemory<Value>(most: number): {
  recall(name: string): Remembered<Value> | undefined
  keep(name: string, remembered: Remembered<Value>): void
} {
  const known = new Map<string, Remembered<Value>>()
  onForget(() => known.clear())
  return {
    recall: (name) => known.get(name),
    keep: (name, remembered) => {
      known.delete(name)
      known.set(name, remembered)
      for (const oldest of known.keys()) {
        if (known.size <= most) return
        known.delete(oldest)
      }
    },
  }
}
