const MAC_BYTES = 32

/** What ends the bytes of a head. */
export function headMacOf(head: Buffer): Buffer {
  return head.subarray(head.length - MAC_BYTES)
}
