import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** A whole collection, now. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}
