import type { CommandContext } from '../../src/admin/commands/command-context.ts'
import { Output } from '../../src/admin/terminal/output.ts'
import { systemClock } from '../../src/platform/clock.ts'

/** A command reached what is behind it. */
export class Reached extends Error {}

const reached = (): Promise<never> => Promise.reject(new Reached())

/** Nothing is done: a command that gets as far as to ask for something is told so. A test puts in what its command may have. */
export const REACHING_CONTEXT: CommandContext = {
  output: new Output(process.stdout),
  clock: systemClock,
  progress: { show: () => undefined, clear: () => undefined },
  vault: {
    create: reached,
    checkPassphrase: reached,
    withBackup: reached,
    verifyBackup: reached,
    restore: reached,
    changePassphrase: reached,
    addRecoveryKey: reached,
    removeRecoveryKey: reached,
    listRecoveryKeys: reached,
    rekey: reached,
    compact: reached,
    migrate: reached,
    join: reached,
    standby: { init: reached, status: reached, promote: reached },
  },
  useOptions: () => undefined,
  note: () => undefined,
  openSecret: reached,
  openScene: reached,
  openPins: reached,
  openConsoleDoor: reached,
  openSignIn: reached,
  untilEnded: reached,
  withAdmin: reached,
}
