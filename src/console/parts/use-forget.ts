// What this page keeps of the one who was in, and nobody else may have: dropped before another one is in.

import { useEffect, useRef } from 'preact/hooks'
import { onForget } from '../api/session.ts'

export function useForget(forget: () => void): void {
  const newest = useRef(forget)
  newest.current = forget
  useEffect(() => onForget(() => newest.current()), [])
}
