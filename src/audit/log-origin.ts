// What a vault calls its log: a name for each epoch. docs/protocol.md CHN-21.

export function originOf(vaultId: string, epoch: number): string {
  return epoch === 1 ? `cartorio/${vaultId}` : `cartorio/${vaultId}/${epoch}`
}

export function epochOf(origin: string): number {
  const [, , epoch = '1'] = origin.split('/')
  return Number(epoch)
}

/** Whether it is the name of an earlier epoch of the log that has the second name. */
export function isEarlierEpoch(origin: string, of: string): boolean {
  const [, vaultId = ''] = of.split('/')
  const epoch = epochOf(origin)
  return epoch < epochOf(of) && originOf(vaultId, epoch) === origin
}
