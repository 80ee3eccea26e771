// Root's recipients.json. A svc that root starts becomes the vault's owner permanently, and the owner may not reach root's
// files: a hub that runs as the owner could change pins that the owner can write, and the pins are there to find out the
// hub's lies. So a child process stays root, knows only the one file, and at the end adds what its parent sends.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import type { Clock } from '../../platform/clock.ts'
import { SvcError, UserError } from '../../platform/errors.ts'
import { addToPinFile } from './pin-file.ts'
import {
  hasPins,
  parsePins,
  renderPins,
  type RecipientPins,
} from '../../sealing/recipients/recipient-pins.ts'

export interface PinKeeper {
  add(more: RecipientPins): Promise<void>
  /** Without a word to it the keeper ends and changes nothing. */
  close(): void
}

/** `command` starts svc as a keeper, when the path of the file follows. */
export function startPinKeeper(command: readonly string[], path: string): PinKeeper {
  const [program = '', ...args] = command
  const child = spawn(program, [...args, path], {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  const ended = Promise.all([once(child, 'close'), text(child.stderr)])
  // `add` tells its caller of a failure; without an `add` it does not matter.
  ended.catch(() => undefined)
  child.stdin.on('error', () => undefined)
  return {
    add: async (more) => {
      child.stdin.end(renderPins(more))
      const [, complaint] = await ended
      if (child.exitCode !== 0) throw readComplaint(complaint)
    },
    close: () => child.stdin.end(),
  }
}

/** The child's own work. */
export async function keepPins(input: Readable, path: string, clock: Clock): Promise<void> {
  const told = await text(input)
  // The parent has ended without success.
  if (told === '') return
  const more = parsePins(told)
  if (more === undefined) throw new SvcError('recipients_cut', 'what was to be kept is cut short')
  if (hasPins(more)) await addToPinFile(path, more, clock)
}

function readComplaint(complaint: string): UserError {
  const [, message = complaint.trim()] = /error: (.*)/.exec(complaint) ?? []
  return new UserError('recipients_not_kept', message)
}
