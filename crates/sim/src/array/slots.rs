//! Numbered places for what is in flight.

/// A store whose numbers are used again.
#[derive(Debug, Clone)]
pub struct Slots<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slots<T> {
    /// An empty store.
    pub fn new() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }

    /// Stores an item and returns its number.
    pub fn put(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.items[number as usize] = Some(item);
                number
            }
            None => {
                self.items.push(Some(item));
                self.items.len() as u32 - 1
            }
        }
    }

    /// The item of a number.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.items.get_mut(number as usize)?.as_mut()
    }

    /// Takes the item of a number out.
    pub fn take(&mut self, number: u32) -> Option<T> {
        let item = self.items.get_mut(number as usize)?.take();
        if item.is_some() {
            self.free.push(number);
        }
        item
    }
}
