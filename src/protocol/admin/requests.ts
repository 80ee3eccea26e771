import { Compile, type Validator } from 'typebox/compile'
import { ADMIN_OPERATIONS, type AdminOperationName } from './operations.ts'

/** What is wrong with a request, for people, and with which of its fields. */
export interface AdminRequestFault {
  readonly message: string
  readonly fields: Readonly<Record<string, string>>
}

const FIELDS_MAX = 16

const validators = new Map<AdminOperationName, Validator>()

/** Undefined when nothing is wrong with it. */
export function findAdminRequestFault(
  name: AdminOperationName,
  request: unknown,
): AdminRequestFault | undefined {
  const validator = validatorOf(name)
  if (validator.Check(request)) return undefined
  const fields: Record<string, string> = {}
  let whole: string | undefined
  for (const error of validator.Errors(request)) {
    if (Object.keys(fields).length >= FIELDS_MAX) break
    const field = error.instancePath.slice(1).replaceAll('/', '.')
    if (field !== '') fields[field] ??= error.message
    else whole ??= `request ${error.message}`
    if (error.keyword !== 'required') continue
    const inside = field === '' ? '' : `${field}.`
    for (const missing of error.params.requiredProperties)
      fields[`${inside}${missing}`] ??= 'is missing'
  }
  const [first] = Object.entries(fields)
  const message = whole ?? (first === undefined ? 'request is not valid' : first.join(' '))
  return { message, fields }
}

/** Compiled at first use, since a command needs one validator and a hub needs all. */
function validatorOf(name: AdminOperationName): Validator {
  const known = validators.get(name)
  if (known !== undefined) return known
  const validator: Validator = Compile(ADMIN_OPERATIONS[name].request)
  validators.set(name, validator)
  return validator
}
