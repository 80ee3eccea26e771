// What a command calls the things that the hub knows by name and by id.

import { Argument } from 'commander'

export function cargoArgument(): Argument {
  return new Argument('<carga>', 'its name, while only one carga has it, or its id')
}

export function deliveryArgument(presence: 'required' | 'optional' = 'required'): Argument {
  return new Argument(
    presence === 'required' ? '<entrega>' : '[entrega]',
    '<hostname>/<name>, a name that only one entrega in force has, or its id',
  )
}
