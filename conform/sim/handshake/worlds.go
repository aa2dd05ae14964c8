package handshake

// Small are configurations for every run.
var Small = []World{
	{Name: "keyed, begins again", Keyed: true, Clients: 1, Addresses: 1, Offers: 3, Challenges: 3, Crashes: 1, Ends: 1, Ages: true},
	{Name: "keyed, moves", Keyed: true, Clients: 1, Addresses: 2, Offers: 3, Challenges: 3, Moves: 2},
	{Name: "two clients with one identity", Keyed: true, Clients: 2, Addresses: 2, Homes: [2]uint8{0, 1}, Offers: 3, Challenges: 3, Ends: 1},
	{Name: "foreign", Keyed: true, Clients: 1, Addresses: 2, Offers: 2, Challenges: 3, Foreign: 1, Moves: 1, Ends: 1, Restarts: 1},
	{Name: "copies", Clients: 1, Addresses: 3, Offers: 2, Challenges: 3, Copies: 1, Moves: 1, Ends: 1, Ages: true},
}

// Middle are some of half a million states.
var Middle = []World{
	{Name: "keyed", Keyed: true, Clients: 1, Addresses: 2, Offers: 2, Challenges: 3, Moves: 1, Ends: 1, Restarts: 1, Ages: true},
	{Name: "anonymous", Clients: 2, Addresses: 3, Homes: [2]uint8{0, 1}, Offers: 3, Challenges: 3, Moves: 1, Attempts: 1},
}

// Large are some of millions of states.
var Large = []World{
	{Name: "keyed", Keyed: true, Clients: 1, Addresses: 2, Offers: 3, Challenges: 3, Crashes: 1, Moves: 1, Ends: 1, Restarts: 1, Ages: true},
	{Name: "anonymous", Clients: 2, Addresses: 3, Homes: [2]uint8{0, 1}, Offers: 3, Challenges: 3, Moves: 1, Ends: 1, Attempts: 1},
}

// Largest are for a night.
var Largest = []World{
	{Name: "anonymous, two moves", Clients: 2, Addresses: 3, Homes: [2]uint8{0, 1}, Offers: 3, Challenges: 3, Moves: 2, Attempts: 1},
	{Name: "two clients with one identity", Keyed: true, Clients: 2, Addresses: 2, Homes: [2]uint8{0, 1}, Offers: 3, Challenges: 3, Crashes: 1, Ends: 1, Restarts: 1, Ages: true},
	{Name: "keyed, four challenges", Keyed: true, Clients: 1, Addresses: 2, Offers: 3, Challenges: 4, Moves: 2, Ends: 1},
	{Name: "anonymous, ages", Clients: 2, Addresses: 2, Homes: [2]uint8{0, 1}, Offers: 3, Challenges: 3, Ends: 1, Attempts: 1, Ages: true},
	{Name: "anonymous, restarts", Clients: 2, Addresses: 3, Homes: [2]uint8{0, 1}, Offers: 3, Challenges: 3, Moves: 1, Restarts: 1, Attempts: 1},
}

// Smallest are for what is slower than the model.
var Smallest = []World{
	{Name: "keyed", Keyed: true, Clients: 1, Addresses: 1, Offers: 2, Challenges: 2, Ends: 1, Restarts: 1, Ages: true},
	{Name: "keyed, begins again", Keyed: true, Clients: 1, Addresses: 1, Offers: 3, Challenges: 2, Crashes: 1, Ends: 1, Ages: true},
	{Name: "keyed, moves", Keyed: true, Clients: 1, Addresses: 2, Offers: 2, Challenges: 2, Moves: 2},
	{Name: "two clients with one identity", Keyed: true, Clients: 2, Addresses: 2, Homes: [2]uint8{0, 1}, Offers: 3, Challenges: 2, Ends: 1},
	{Name: "anonymous", Clients: 2, Addresses: 2, Homes: [2]uint8{0, 1}, Offers: 3, Challenges: 2, Attempts: 1},
	{Name: "foreign", Keyed: true, Clients: 1, Addresses: 2, Offers: 2, Challenges: 2, Foreign: 1, Ends: 1, Restarts: 1},
	{Name: "copies", Clients: 1, Addresses: 2, Offers: 2, Challenges: 2, Copies: 1, Ends: 1},
}
