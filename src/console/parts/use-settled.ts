// What somebody types, once they pause: what asks the hub by it asks once.

import { useEffect, useState } from 'preact/hooks'

const PAUSE_MS = 250

export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [JSON.stringify(value)])
  return settled
}
