import type { RegisterCommand } from '../command-context.ts'
import { registerLogin } from './login.ts'
import { registerLogout } from './logout.ts'
import { registerWhoami } from './whoami.ts'

const NAMES: ReadonlySet<string> = new Set(['login', 'logout', 'whoami'])

export const registerSignIn: RegisterCommand = (program, context) => {
  registerLogin(program, context)
  registerLogout(program, context)
  registerWhoami(program, context)
}

/** Whether a command has nothing to ask a hub with before it has done its work, or asks by itself. */
export function signsIn(command: string): boolean {
  return NAMES.has(command)
}
