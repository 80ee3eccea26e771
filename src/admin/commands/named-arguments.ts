// What a command calls the things that the hub knows by name and by id.

import { Argument } from 'commander'

export function cargoArgument(): Argument {
  return new Argument('<load>', 'its name, while only one load has it, or its id')
}

export function deliveryArgument(presence: 'required' | 'optional' = 'required'): Argument {
  return new Argument(
    presence === 'required' ? '<delivery>' : '[delivery]',
    '<hostname>/<name>, a name that only one delivery in force has, or its id',
  )
}
