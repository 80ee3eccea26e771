// What follows from the hub's clock: who shows it is drawn again when it is another value, not at each second.

import { computed } from '@preact/signals'
import { useMemo } from 'preact/hooks'

/** `inputs` are what `read` uses besides signals. */
export function useOfTime<Value>(read: () => Value, inputs: readonly unknown[]): Value {
  return useMemo(() => computed(read), inputs).value
}
