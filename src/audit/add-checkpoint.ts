/** What a witness of others is sent, as c2sp.org/tlog-witness has it: it has signed the log with `old` entries. */
export function formatAddCheckpoint(
  old: number,
  consistency: readonly Buffer[],
  checkpoint: string,
): string {
  const lines = [`old ${old}`, ...consistency.map((hash) => hash.toString('base64')), '']
  return `${lines.join('\n')}\n${checkpoint}`
}
