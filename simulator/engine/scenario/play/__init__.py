"""Playing scenarios in a world: which rule matches, which steps are planned and due."""
