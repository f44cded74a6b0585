//! The store in memory passes every check.

use std::sync::Arc;

use store::Store;
use store::memory::Memory;
use store::suite::Guard;

store::suite!(memory, |clock| async {
    (Arc::new(Memory::new(clock)) as Arc<dyn Store>, Box::new(()) as Guard)
});
