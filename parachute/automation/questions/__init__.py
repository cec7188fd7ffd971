"""Questions without a conversation that an agent of the computer itself answers: the login is a subscription's."""
