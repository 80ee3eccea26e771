// How far a download is: a bar that is written over and over on a terminal, else a line at every tenth.

export type ProgressListener = (receivedBytes: number, totalBytes: number | undefined) => void

const MEGABYTE = 1_000_000
const BAR_CHARACTERS = 30
const UNKNOWN_STEP_BYTES = 16 * MEGABYTE
const EMPTY_LINE = '\r\u001b[2K'

export interface DownloadProgress {
  readonly listen: ProgressListener
  /** Leaves the cursor at the start of a line. */
  readonly end: () => void
}

export function downloadProgress(
  write: (text: string) => unknown,
  { isTerminal }: { readonly isTerminal: boolean },
): DownloadProgress {
  let step = -1
  const listen: ProgressListener = (receivedBytes, totalBytes) => {
    const reached = stepOf(receivedBytes, totalBytes, isTerminal ? 100 : 10)
    if (reached === step) return
    step = reached
    const text = describe(receivedBytes, totalBytes)
    write(isTerminal ? `${EMPTY_LINE}${bar(receivedBytes, totalBytes)}${text}` : `${text}\n`)
  }
  return {
    listen,
    end: () => {
      if (isTerminal && step >= 0) write('\n')
    },
  }
}

function stepOf(received: number, total: number | undefined, steps: number): number {
  if (total === undefined || total === 0) return Math.floor(received / UNKNOWN_STEP_BYTES)
  return Math.floor((received * steps) / total)
}

function bar(received: number, total: number | undefined): string {
  if (total === undefined || total === 0) return ''
  const filled = Math.min(BAR_CHARACTERS, Math.floor((received * BAR_CHARACTERS) / total))
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_CHARACTERS - filled)}] `
}

function describe(received: number, total: number | undefined): string {
  const megabytes = (received / MEGABYTE).toFixed(1)
  if (total === undefined || total === 0) return `fetched ${megabytes} MB`
  const percent = Math.floor((received * 100) / total)
  return `fetched ${percent} % (${megabytes} of ${(total / MEGABYTE).toFixed(1)} MB)`
}
