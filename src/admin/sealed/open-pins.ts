import type { Clock } from '../../platform/clock.ts'
import { UserError } from '../../platform/errors.ts'
import { addToPinFile, pinFilePath, readPinFile } from './pin-file.ts'
import { startPinKeeper } from './pin-keeper.ts'
import type { RecipientPins } from '../../sealing/recipients/recipient-pins.ts'

/** What this operator knows of recipients; the caller that opened it closes it. */
export interface OpenPins {
  readonly known: RecipientPins
  readonly path: string
  add(more: RecipientPins): Promise<void>
  close(): void
}

export interface PinSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** What starts a keeper of them, before the file's path. */
  readonly command: readonly string[]
  readonly isRoot: boolean
}

/** To be called before the program becomes the vault's owner. */
export async function openPins(surroundings: PinSurroundings): Promise<OpenPins> {
  const { env, clock, command, isRoot } = surroundings
  const path = pinsPlace(env)
  const known = await readPinFile(path)
  if (isRoot) return { known, path, ...startPinKeeper(command, path) }
  return { known, path, add: (more) => addToPinFile(path, more, clock), close: () => undefined }
}

export function pinsPlace(env: PinSurroundings['env']): string {
  const path = pinFilePath(env)
  if (path !== undefined) return path
  throw new UserError('recipients_nowhere', 'svc has no place for its recipients file', {
    hint: 'set HOME, or SVC_RECIPIENTS_FILE to the path of a file',
  })
}
