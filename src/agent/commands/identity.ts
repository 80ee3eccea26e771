import { describeIdentity, formatIdentity } from '../identity/describe-identity.ts'
import { requireIdentity } from '../identity/identity.ts'
import { type Environment, print, startCommand } from './context.ts'

export async function runIdentity(env: Environment, options: { json: boolean }): Promise<void> {
  const { paths } = startCommand('identity', env)
  const description = await describeIdentity(await requireIdentity(paths.identityDir), paths)
  print(description, options, formatIdentity(description))
}
