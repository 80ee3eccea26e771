import { Compile, type Validator } from 'typebox/compile'
import { ADMIN_OPERATIONS, type AdminOperationName } from './admin.ts'

const validators = new Map<AdminOperationName, Validator>()

/** What is wrong with an operation's request, for people; undefined when nothing is. */
export function findAdminRequestFault(
  name: AdminOperationName,
  request: unknown,
): string | undefined {
  const validator = validatorOf(name)
  if (validator.Check(request)) return undefined
  const [first] = validator.Errors(request)
  const field = first?.instancePath.slice(1).replaceAll('/', '.') ?? ''
  const reason = first?.message ?? 'is not valid'
  return field === '' ? `request ${reason}` : `${field} ${reason}`
}

/** Compiled at first use, since a command needs one of them and a hub all. */
function validatorOf(name: AdminOperationName): Validator {
  const known = validators.get(name)
  if (known !== undefined) return known
  const validator: Validator = Compile(ADMIN_OPERATIONS[name].request)
  validators.set(name, validator)
  return validator
}
