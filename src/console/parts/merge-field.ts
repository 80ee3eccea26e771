// Two people changed one thing: what somebody changed here goes on top of what is there now, and all else stays as it is there.

export interface MergedField<Value> {
  readonly merged: Value
  /** Both changed it, to different values. */
  readonly isClash: boolean
}

export function mergeField<Value>(seen: Value, present: Value, wanted: Value): MergedField<Value> {
  if (wanted === seen) return { merged: present, isClash: false }
  return { merged: wanted, isClash: present !== seen && present !== wanted }
}
